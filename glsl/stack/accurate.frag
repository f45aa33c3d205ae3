// out = alpha op(A) x + beta z for a stack of columns, in double-float (exact two-sum and two-product), rounded once at
// the end. Sums that span several passes carry their low part in a second target. alpha and beta are powers of two, and
// alpha is shared between A and x, so that scaling is exact and neither leaves the range.
#include "include/exact.glsl"
#include "include/stack.glsl"

void kernel(ivec2 p, out vec4 high, out vec4 low) {
    int t = texel_index(p);
    Sum4 s = Sum4(START_HIGH, START_LOW);
#if TRANSPOSED
    bool inside = t >= units.x && t < units.y;
    vec2 own = place_of_unit(inside ? t - units.x : 0);
    vec4 side = factors.x * lanes;
    vec4 other = vec4(factors.y);
    int first = 0;
#else
    bool inside = true;
    vec2 own = place_of_texel(t);
    vec4 side = vec4(factors.x);
    vec4 other = factors.y * lanes;
    int first = units.x;
#endif
    for (int k = range.x; inside && k < range.y; ++k) {
#if TRANSPOSED
        Block m = block_at(own + place_of_texel(k));
#else
        Block m = block_at(own + place_of_unit(k));
#endif
        vec4 v = x_texel(k + first) * other;
        s = add_product4(s, m.c0 * side, vec4(0.0), vec4(v.x));
        s = add_product4(s, m.c1 * side, vec4(0.0), vec4(v.y));
        s = add_product4(s, m.c2 * side, vec4(0.0), vec4(v.z));
        s = add_product4(s, m.c3 * side, vec4(0.0), vec4(v.w));
    }
    high = s.high;
    low = s.low;
}
