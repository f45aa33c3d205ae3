// out = alpha op(A) x + beta z for a stack of columns, in double-float (exact two-sum and two-product), rounded once at
// the end. Sums that span several passes carry their other parts in targets of their own. alpha and beta are powers of two, so
// scaling is exact.
#include "include/exact.glsl"
#include "include/stack.glsl"

// The lanes of a column that count, bit by bit: arithmetic might make zero of what is below the normal range.
vec4 kept(vec4 column, ivec4 mask) { return intBitsToFloat(floatBitsToInt(column) & mask); }

// x may be a pair, x + x_low.
#ifdef PAIRED
#define TERM(s, column, lane) add_scaled_pair_product4(s, column, vec4(v.lane), vec4(w.lane), factors)
#else
#define TERM(s, column, lane) add_scaled_product4(s, column, vec4(v.lane), factors)
#endif

void kernel(ivec2 p, OUT_SUM) {
    int t = texel_index(p);
    Sum4 s = STARTED;
#if TRANSPOSED
    bool inside = t >= units.x && t < units.y;
    vec2 own = place_of_unit(inside ? t - units.x : 0);
    ivec4 side = -ivec4(notEqual(lanes, vec4(0.0)));
    vec4 other = vec4(1.0);
    int first = 0;
#else
    bool inside = true;
    vec2 own = place_of_texel(t);
    ivec4 side = ivec4(-1);
    vec4 other = lanes;
    int first = units.x;
#endif
    for (int k = range.x; inside && k < range.y; ++k) {
#if TRANSPOSED
        Block m = block_at(own + place_of_texel(k));
#else
        Block m = block_at(own + place_of_unit(k));
#endif
        vec4 v = x_texel(k + first) * other;
#ifdef PAIRED
        vec4 w = x_low_texel(k + first) * other;
#endif
        s = TERM(s, kept(m.c0, side), x);
        s = TERM(s, kept(m.c1, side), y);
        s = TERM(s, kept(m.c2, side), z);
        s = TERM(s, kept(m.c3, side), w);
    }
    WRITE_SUM(s);
}
