// A table along one axis: the affine map of (i, 0), or what (0, i) adds to it.
vec4 kernel(ivec2 p) {
    float i = float(texel_index(p)) + 0.5;
    return along == 0 ? affine(pair(vec2(i, 0.0)), 1.0) : affine(pair(vec2(0.0, i)), 0.0);
}
