// out = alpha A x + beta z in double-float (exact two-sum and two-product), rounded once; A = values + low.
// alpha and beta are powers of two, so scaling x and z by them is exact.
#include "include/exact.glsl"
#include "include/prelude.glsl"

void kernel(ivec2 p, OUT_SUM) {
    int t = texel_index(p);
    uvec4 slice = slices_texel(t >> 4);
    int slot = int(slice.x) + (t & 15);
    int width = int(slice.y);
    Sum4 s = STARTED;
    for (int k = 0; k < width; ++k) {
        uvec4 c = columns_texel(slot);
        vec4 a = values_texel(slot);
        vec4 v = where_nonzero(a, vec4(x_element(c.x), x_element(c.y), x_element(c.z), x_element(c.w)));
        s = add_product4(s, a, LOW, (v * factors.y) * factors.x);
        slot += 16;
    }
    WRITE_SUM(s);
}
