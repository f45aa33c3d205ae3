// What a device profile times to learn what a written texel takes: TARGETS targets, and nothing else but where it is.
#if TARGETS == 1
vec4 kernel(ivec2 p) { return vec4(p.xyxy); }
#elif TARGETS == 2
void kernel(ivec2 p, out vec4 a, out vec4 b) { a = b = vec4(p.xyxy); }
#elif TARGETS == 3
void kernel(ivec2 p, out vec4 a, out vec4 b, out vec4 c) { a = b = c = vec4(p.xyxy); }
#else
void kernel(ivec2 p, out vec4 a, out vec4 b, out vec4 c, out vec4 d) { a = b = c = d = vec4(p.xyxy); }
#endif
