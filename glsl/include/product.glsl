// alpha A x at texel c of a vector as long as x, for a pass that does something else with it than to write it. FORM says
// how the operator is kept: 0 on a grid, 1 by diagonals, 2 gathered.
#ifndef TEXLA_INCLUDE_PRODUCT
#define TEXLA_INCLUDE_PRODUCT
#if FORM == 0
#include "include/operator.glsl"
vec4 sum_at(ivec2 c, int t) { return applied(x_at(c), place(t)); }
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

vec4 product_at(ivec2 c) {
    int t = c.y * row.x + c.x;
    vec4 sum = (sum_at(c, t) * factors.y) * factors.x;
#if PADDED
    // Lanes past the end, which products on their own leave zero.
    sum = mix(sum, vec4(0.0), greaterThanEqual(4 * t + ivec4(0, 1, 2, 3), ivec4(row.y)));
#endif
    return sum;
}
#endif
