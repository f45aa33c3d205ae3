// Bells on the plane from their factors.
vec4 kernel(ivec2 p) { return across_texel(p.x) * across_texel(p.y); }
