// out = alpha op(A) x + beta z in double-float (exact two-sum and two-product), rounded once at the end. Sums that span
// several passes carry their other parts in targets of their own. alpha and beta are powers of two, so scaling is exact.
#include "include/exact.glsl"
#include "include/block.glsl"

// x may be a pair, x + x_low.
#ifdef PAIRED
#define TERM(s, column, lane) add_scaled_pair_product4(s, column, vec4(v.lane), vec4(w.lane), factors)
#else
#define TERM(s, column, lane) add_scaled_product4(s, column, vec4(v.lane), factors)
#endif

void kernel(ivec2 p, OUT_SUM) {
    int t = texel_index(p) - rows.x;
    Sum4 s = STARTED;
    if (t >= 0 && t < rows.y) {
        float row = row_of_a(t + first_row);
        for (int k = 0; k < quads; ++k) {
            Block m = BLOCK_OF_A(row, quad_of_a(k + begin.x));
            vec4 v = x_texel(k + begin.y);
#ifdef PAIRED
            vec4 w = x_low_texel(k + begin.y);
#endif
            s = TERM(s, m.c0, x);
            s = TERM(s, m.c1, y);
            s = TERM(s, m.c2, z);
            s = TERM(s, m.c3, w);
        }
    }
    WRITE_SUM(s);
}
