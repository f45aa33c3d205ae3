// alpha A x at a texel of a vector as long as x, for a pass that does something else with it than to write it. FORM says
// how the operator is kept: 0 on a grid, 1 by diagonals, 2 gathered. PAIRED: x is a pair, x + x_low, and so is the product.
#ifndef TEXLA_INCLUDE_PRODUCT
#define TEXLA_INCLUDE_PRODUCT

// x at the texel at hand, before and after it: carried from one to the next by passes that go along a row.
vec4 x_own;
vec4 x_before;
vec4 x_after;
#ifdef PAIRED
vec4 x_low_own;
vec4 x_low_before;
vec4 x_low_after;
#endif

int index_of(ivec2 c) { return c.y * row.x + c.x; }

// The texel at hand is to be this one next.
void begin(ivec2 c) {
    x_own = x_shifted(index_of(c) - 1);
    x_after = x_at(c);
#ifdef PAIRED
    x_low_own = x_low_shifted(index_of(c) - 1);
    x_low_after = x_low_at(c);
#endif
}

// The texel at hand is this one, next to the one before.
void advance(ivec2 c) {
    x_before = x_own;
    x_own = x_after;
    x_after = x_shifted(index_of(c) + 1);
#ifdef PAIRED
    x_low_before = x_low_own;
    x_low_own = x_low_after;
    x_low_after = x_low_shifted(index_of(c) + 1);
#endif
}

#ifdef PAIRED
#include "include/exact_operator.glsl"
Sum4 sum_at(ivec2 c, int t) {
    return exact_applied(Sum4(vec4(0.0), vec4(0.0)), Pair4(x_own, x_low_own), place(t));
}
#elif FORM == 0
#include "include/operator.glsl"
vec4 sum_at(ivec2 c, int t) { return applied(x_own, place(t)); }
#elif FORM == 1
vec4 sum_at(ivec2 c, int t) {
    FETCHES
    vec4 sum = vec4(0.0);
    BANDS
    return sum;
}
#else
#include "include/gather.glsl"
vec4 sum_at(ivec2 c, int t) { return gathered(t); }
#endif

// Of the texel at hand. Lanes past the end are zero, as products on their own leave them.
#if PADDED
#define ENDED(sum, t) mix(sum, vec4(0.0), greaterThanEqual(4 * (t) + ivec4(0, 1, 2, 3), ivec4(row.y)))
#else
#define ENDED(sum, t) (sum)
#endif
#ifdef PAIRED
Pair4 product(ivec2 c) {
    int t = index_of(c);
    Sum4 sum = settled4(sum_at(c, t));
    return Pair4(ENDED(sum.high, t), ENDED(sum.low, t));
}
#else
vec4 product(ivec2 c) {
    int t = index_of(c);
    return ENDED((sum_at(c, t) * factors.y) * factors.x, t);
}
#endif
#endif
