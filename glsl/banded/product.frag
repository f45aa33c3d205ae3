// y = combine(alpha sum over diagonals d of D_d[i] x[i + offset_d], z)   [Krueger05] 44.3.3
// The shift of x is index arithmetic: offset = 4 shift + residue, so four elements come from texel t + shift and, for
// a residue, its neighbour. FETCHES and BANDS are generated from the offsets; texels that several diagonals need are
// fetched once. Diagonals are zero where i + offset leaves x.
vec4 kernel(ivec2 p) {
    int t = texel_index(p);
    FETCHES
    vec4 sum = FIRST_TERM;
    BANDS
#if LAST
    return COMBINE((sum * factors.y) * factors.x);
#else
    return sum;
#endif
}
