// The strongest signal in a cell, of all towers in turn: what takes no scatter.
vec4 kernel(ivec2 p) {
    float strongest = 0.0;
    for (int i = 0; i < count; ++i) strongest = max(strongest, signal(vec2(p) + 0.5, towers_texel(i)));
    return vec4(strongest);
}
