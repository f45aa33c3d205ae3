// out = alpha sum over d of D_d[i] x[i + offset_d] + beta z, in double-float (exact two-sum and two-product), rounded
// once. D_d = high + low. alpha and beta are powers of two, so scaling x and z by them is exact. x may be a pair.
// Sums that span several passes carry their other parts in targets of their own.
#include "include/exact.glsl"

#if defined(ONE_BY_ONE) && defined(TERMS)
#ifdef PAIRED
#define PARTS 2
#else
#define PARTS 1
#endif
// Long steps stand in a loop, whose end no compiler knows: written out for five terms of pairs they take 0.3 s to compile.
#ifdef POWERS
#define LISTS vec4 highs[TERMS] = HIGHS;
#define TERM(k) add_exact_product4(s, highs[(k) / PARTS], xs[k])
#else
#define LISTS vec4 highs[TERMS] = HIGHS; vec4 lows[TERMS] = LOWS;
#define TERM(k) add_product4(s, highs[(k) / PARTS], lows[(k) / PARTS], xs[k])
#endif
#define ADDED LISTS vec4 xs[PARTS * TERMS] = XS; for (int k = 0; k < PARTS * TERMS + texla_zero; ++k) s = TERM(k);
#else
#define ADDED BANDS
#endif

void kernel(ivec2 p, OUT_SUM) {
    int t = texel_index(p);
    FETCHES
    Sum4 s = STARTED;
    ADDED
    s = settled4(s);
    WRITE_SUM(s);
}
