// out(e) = x(s) for the elements e of a window, with s = e + shift or, transposed, s = (e.y, e.x) + shift; outside of
// the window what the target held before, or zero. Target and source are tiles in 4x1 columns [Moravanszky03] 2.1, or
// folded vectors that hold a matrix row by row.

// The element (i, j) of the target in lane c of texel p.
ivec2 element_of(ivec2 p, int c) {
#if TARGET_FOLDED
    int k = 4 * texel_index(p) + c;
    return ivec2(k / target_cols, k % target_cols);
#elif TARGET_DIAGONAL
    return ivec2(4 * texel_index(p) + c);
#else
    return ivec2(4 * p.y + c, p.x);
#endif
}

float lane(ivec2 p, int c, float kept) {
    ivec2 e = element_of(p, c);
    if (any(lessThan(e, window.xy)) || any(greaterThanEqual(e, window.zw))) return kept;
#if TRANSPOSED
    ivec2 s = e.yx + shift;
#else
    ivec2 s = e + shift;
#endif
#if SOURCE_FOLDED
    return x_element(uint(s.x * source_cols + s.y));
#else
    return x_at(ivec2(s.y, s.x >> 2))[s.x & 3];
#endif
}

vec4 kernel(ivec2 p) {
#if KEEP
    vec4 kept = kept_here();
#else
    vec4 kept = vec4(0.0);
#endif
    return vec4(lane(p, 0, kept.x), lane(p, 1, kept.y), lane(p, 2, kept.z), lane(p, 3, kept.w));
}
