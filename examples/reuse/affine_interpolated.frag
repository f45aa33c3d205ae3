// What the rasteriser makes of the affine map at the corners.
vec4 kernel(ivec2 p) { return mapped; }
