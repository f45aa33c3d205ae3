// y = combine(alpha op(A) x, z) for a stack of columns [Krueger05] 44.2.3, 44.3.3: products of a column with an element of
// x, summed; or a range of that sum, with the ranges side by side as tiles like y. `lanes` is zero for columns of the
// texel of x (of y for the transpose) that lie in another texture.
#include "include/stack.glsl"

vec4 kernel(ivec2 p) {
    int t = (p.y << fold.y) + (p.x & fold.x);
    int begin = range.x + (p.x >> fold.y) * range.z;
    int end = min(begin + range.z, range.y);
    vec4 sum = vec4(0.0);
#if TRANSPOSED
    if (t >= units.x && t < units.y) {
        vec2 unit = place_of_unit(t - units.x);
        for (int k = begin; k < end; ++k) {
            Block m = block_at(unit + place_of_texel(k));
            vec4 v = x_texel(k) * factors.y;
            sum += m.c0 * v.x;
            sum += m.c1 * v.y;
            sum += m.c2 * v.z;
            sum += m.c3 * v.w;
        }
    }
    sum = START + sum * lanes;
#else
    vec2 texel = place_of_texel(t);
    for (int k = begin; k < end; ++k) {
        Block m = block_at(texel + place_of_unit(k));
        vec4 v = x_texel(k + units.x) * (factors.y * lanes);
        sum += m.c0 * v.x;
        sum += m.c1 * v.y;
        sum += m.c2 * v.z;
        sum += m.c3 * v.w;
    }
    sum = START + sum;
#endif
    return FINISH(sum);
}
