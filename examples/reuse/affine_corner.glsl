// The affine map at the corners of the domain.
void vertex(vec2 p) { mapped = affine(pair(p), 1.0); }
