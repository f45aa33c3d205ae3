// Shares of op(A) x: a fragment sums a range of the inner dimension for four rows, COMBINEd at once where there is one
// range only; dense/total.frag adds the others up. Few rows would otherwise leave most of the device idle. A share is SIDE
// texels wide.
#include "include/block.glsl"

#if ABSOLUTE
#define ENTRY(v) abs(v)
#else
#define ENTRY(v) (v)
#endif

vec4 kernel(ivec2 p) {
#if WHOLE
    int t = texel_index(p);
    int first = 0;
    int end = quads;
#else
    int t = p.y * SIDE + p.x % SIDE;
    int first = (p.x / SIDE - first_share) * share;
    int end = min(first + share, quads);
#endif
    vec4 sum = vec4(0.0);
    float row = row_of_a(t + first_row);
    for (int k = first; k < end; ++k) {
        Block m = BLOCK_OF_A(row, quad_of_a(k + begin.x));
        vec4 v = x_texel(k + begin.y) * factors.y;
        sum += ENTRY(m.c0) * v.x;
        sum += ENTRY(m.c1) * v.y;
        sum += ENTRY(m.c2) * v.z;
        sum += ENTRY(m.c3) * v.w;
    }
#if WHOLE
    return COMBINE(sum * factors.x);
#else
    return sum;
#endif
}
