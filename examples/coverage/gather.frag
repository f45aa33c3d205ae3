// The strongest signal in a cell, of some towers in turn: what takes no scatter.
vec4 kernel(ivec2 p) {
    float strongest = 0.0;
    for (int i = first; i < end; ++i) strongest = max(strongest, signal(vec2(p) + 0.5, towers_texel(i)));
    return vec4(strongest);
}
