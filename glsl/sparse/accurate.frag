// out = alpha A x + beta z in double-float (exact two-sum and two-product), rounded once; A = values + low.
// alpha and beta are powers of two, so scaling x and z by them is exact. PAIRED: x is x + x_low.
#include "include/exact.glsl"
#include "include/prelude.glsl"

#define GATHERED(element) vec4(element(c.x), element(c.y), element(c.z), element(c.w))

void kernel(ivec2 p, OUT_SUM) {
    int t = texel_index(p);
    uvec4 slice = slices_texel(t >> 4);
    int slot = int(slice.x) + (t & 15);
    int width = int(slice.y);
    Sum4 s = STARTED;
    for (int k = 0; k < width; ++k) {
        uvec4 c = columns_texel(slot);
        vec4 a = values_texel(slot);
        vec4 v = scaled4(where_nonzero(a, GATHERED(x_element)), factors);
#ifdef PAIRED
        vec4 w = scaled4(where_nonzero(a, GATHERED(x_low_element)), factors);
        s = add_pair_product4(s, a, LOW, v, w);
#else
        s = add_product4(s, a, LOW, v);
#endif
        slot += 16;
    }
    WRITE_SUM(s);
}
