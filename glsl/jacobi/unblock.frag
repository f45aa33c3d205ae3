// The inverse of jacobi/blocks.frag: a folded vector of blocks of n unknowns from the textures of some quads. Element i of
// `place` is the position of unknown i, four to a quad. `picked(at, block, before)` is what stands at four positions of a
// block, counted from the first of these quads; what other quads hold stays as a pass before this one has left it. With SCALED all of it
// is multiplied by both factors in the end.
ivec2 place_of(int m) {
    int y = m / width;
    return ivec2(m - width * y, y);
}

float element(int i, float before) {
    int e = min(i, last);
    int m = e / n;
    int at = int(place_element(uint(e - n * m))) - first;
    return picked(ivec4(at), place_of(m), vec4(before)).x;
}

vec4 taken(ivec2 p) {
    int i = 4 * texel_index(p);
#if CONTINUED
    vec4 before = before_here();
#else
    vec4 before = vec4(0.0);
#endif
#if WHOLE
    // All four are of one block.
    int e = min(i, last);
    int m = e / n;
    return picked(ivec4(place_texel((e - n * m) >> 2)) - first, place_of(m), before);
#else
    return vec4(
        element(i, before.x), element(i + 1, before.y), element(i + 2, before.z), element(i + 3, before.w)
    );
#endif
}

vec4 kernel(ivec2 p) {
#if SCALED
    return factors.x * taken(p) * factors.y;
#else
    return taken(p);
#endif
}
