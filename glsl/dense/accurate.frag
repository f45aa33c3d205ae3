// out = alpha op(A) x + beta z in double-float (exact two-sum and two-product), rounded once at the end. Sums that span
// several passes carry their other parts in targets of their own. alpha and beta are powers of two, so scaling is exact.
#include "include/exact.glsl"
#include "include/block.glsl"

void kernel(ivec2 p, OUT_SUM) {
    int t = texel_index(p) - rows.x;
    Sum4 s = STARTED;
    if (t >= 0 && t < rows.y) {
        float row = row_of_a(t + first_row);
        for (int k = 0; k < quads; ++k) {
            Block m = BLOCK_OF_A(row, quad_of_a(k + begin.x));
            vec4 v = x_texel(k + begin.y);
            s = add_scaled_product4(s, m.c0, vec4(v.x), factors);
            s = add_scaled_product4(s, m.c1, vec4(v.y), factors);
            s = add_scaled_product4(s, m.c2, vec4(v.z), factors);
            s = add_scaled_product4(s, m.c3, vec4(v.w), factors);
        }
    }
    WRITE_SUM(s);
}
