// out = x, texel by texel: what a target holds before a draw that cannot be blended.
vec4 kernel(ivec2 p) { return x_at(p); }
