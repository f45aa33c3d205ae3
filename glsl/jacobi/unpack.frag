// The inverse of jacobi/pack.frag: a folded vector of `side` times `side` elements from rows of a grid, row ROWS y + k
// in row y of input k.
vec4 group(int x, int y) {
    ivec2 q = ivec2(x, y / ROWS);
#if ROWS == 1
    return x0_at(q);
#elif ROWS == 2
    return y % 2 == 0 ? x0_at(q) : x1_at(q);
#else
    int k = y % ROWS;
#if ROWS == 8
    if (k >= 4) {
        return k < 6 ? (k == 4 ? x4_at(q) : x5_at(q)) : (k == 6 ? x6_at(q) : x7_at(q));
    }
#endif
    return k < 2 ? (k == 0 ? x0_at(q) : x1_at(q)) : (k == 2 ? x2_at(q) : x3_at(q));
#endif
}

float element(int i) {
    int y = i / side, x = i - y * side;
    return y < side ? group(x >> 2, y)[x & 3] : 0.0;
}

vec4 kernel(ivec2 p) {
    int i = 4 * texel_index(p);
#if ALIGNED
    int y = i / side;
    return y < side ? group((i - y * side) >> 2, y) : vec4(0.0);
#else
    return vec4(element(i), element(i + 1), element(i + 2), element(i + 3));
#endif
}
