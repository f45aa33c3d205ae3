// The inverse of jacobi/blocks.frag: a folded vector of blocks of n unknowns from the textures of some quads, of which
// `pick(k, q)` is texel q of the k-th; element i of `place` is the position of unknown i, four to a quad, counted from
// the first of these. What other quads hold stays as a pass before this one has left it, where CONTINUED.
float element(int i, float before) {
    int e = min(i, last);
    int m = e / n;
    int position = int(place_element(uint(e - n * m))) - first;
    bool held = position >= 0 && position < 4 * COUNT;
    position = held ? position : 0;
    float value = pick(position >> 2, ivec2(m % width, m / width))[position & 3];
    return held ? value : before;
}

vec4 kernel(ivec2 p) {
    int i = 4 * texel_index(p);
#if CONTINUED
    vec4 before = before_here();
#else
    vec4 before = vec4(0.0);
#endif
    return vec4(
        element(i, before.x), element(i + 1, before.y), element(i + 2, before.z), element(i + 3, before.w)
    );
}
