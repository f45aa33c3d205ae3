// Signal of one tower in one cell of its disc; blending keeps the strongest.
vec4 kernel(ivec2 p, vec4 tower) { return vec4(signal(vec2(p) + 0.5, tower)); }
