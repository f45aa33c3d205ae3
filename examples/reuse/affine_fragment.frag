// The affine map of a texel's centre, in every fragment.
vec4 kernel(ivec2 p) { return affine(pair(vec2(p) + 0.5), 1.0); }
