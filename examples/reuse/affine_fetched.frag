// The affine map from its tables.
vec4 kernel(ivec2 p) { return across_texel(p.x) + up_texel(p.y); }
