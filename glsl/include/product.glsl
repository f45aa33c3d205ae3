// alpha A x at a texel of a vector as long as x, for a pass that does something else with it than to write it. FORM says
// how the operator is kept: 0 on a grid, 1 by diagonals, 2 gathered.
#ifndef TEXLA_INCLUDE_PRODUCT
#define TEXLA_INCLUDE_PRODUCT

// x at the texel at hand, before and after it: carried from one to the next by passes that go along a row.
vec4 x_own;
vec4 x_before;
vec4 x_after;

int index_of(ivec2 c) { return c.y * row.x + c.x; }

// The texel at hand is to be this one next.
void begin(ivec2 c) {
    x_own = x_shifted(index_of(c) - 1);
    x_after = x_at(c);
}

// The texel at hand is this one, next to the one before.
void advance(ivec2 c) {
    x_before = x_own;
    x_own = x_after;
    x_after = x_shifted(index_of(c) + 1);
}

#if FORM == 0
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

// Of the texel at hand.
vec4 product(ivec2 c) {
    int t = index_of(c);
    vec4 sum = (sum_at(c, t) * factors.y) * factors.x;
#if PADDED
    // Lanes past the end, which products on their own leave zero.
    sum = mix(sum, vec4(0.0), greaterThanEqual(4 * t + ivec4(0, 1, 2, 3), ivec4(row.y)));
#endif
    return sum;
}
#endif
