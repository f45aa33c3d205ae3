// y = combine(alpha sum over the slots k of a texel's four rows of values_k x[columns_k], z): rows padded in slices of
// sixteen texels. A padding slot has the coefficient zero and column 0.
#include "include/prelude.glsl"

vec4 kernel(ivec2 p) {
    int t = texel_index(p);
    uvec4 slice = slices_texel(t >> 4);
    int slot = int(slice.x) + (t & 15);
    int width = int(slice.y);
    vec4 sum = vec4(0.0);
    for (int k = 0; k < width; ++k) {
        uvec4 c = columns_texel(slot);
        vec4 a = values_texel(slot);
        sum += a * where_nonzero(a, vec4(x_element(c.x), x_element(c.y), x_element(c.z), x_element(c.w)));
        slot += 16;
    }
    return COMBINE((sum * factors.y) * factors.x);
}
