// out = alpha sum over d of D_d[i] x[i + offset_d] + beta z, in double-float (exact two-sum and two-product), rounded
// once. D_d = high + low. alpha and beta are powers of two, so scaling x and z by them is exact. x may be a pair.
// Sums that span several passes carry their other parts in targets of their own.
#include "include/exact.glsl"

void kernel(ivec2 p, OUT_SUM) {
    int t = texel_index(p);
    FETCHES
    Sum4 s = STARTED;
    BANDS
    s = settled4(s);
    WRITE_SUM(s);
}
