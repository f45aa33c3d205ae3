// The sum over the slots k of a texel's four rows of values_k x[columns_k]: rows padded in slices of sixteen texels. A
// padding slot has the coefficient zero and column 0.
#ifndef TEXLA_INCLUDE_GATHER
#define TEXLA_INCLUDE_GATHER
#include "include/prelude.glsl"

vec4 gathered(int t) {
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
    return sum;
}
#endif
