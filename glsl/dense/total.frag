// y = combine(alpha op(A) x): the shares of dense/partial.frag added up, from the left to the right. Also the ranges of
// scatter/gather.frag, which lie in the same way.
vec4 kernel(ivec2 p) {
    int t = texel_index(p) - first_row;
#if KEPT
    // Other rows of y come from other tiles of A.
    if (t < 0 || t >= shares.y) return kept_here();
#endif
    vec4 sum = START;
    for (int s = 0; s < shares.x; ++s) {
        sum += partial_clamped(ivec2(s * SIDE + t % SIDE, t / SIDE));
    }
    return COMBINE(sum * factors.x);
}
