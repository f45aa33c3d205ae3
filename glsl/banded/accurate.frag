// out = alpha sum over d of D_d[i] x[i + offset_d] + beta z, in double-float (exact two-sum and two-product), rounded
// once. D_d = high + low. alpha and beta are powers of two, so scaling x and z by them is exact.
// Sums that span several passes carry their low part in a second target.
#include "include/exact.glsl"

void kernel(ivec2 p, out vec4 high, out vec4 low) {
    int t = texel_index(p);
    FETCHES
    Sum4 s = Sum4(START_HIGH, START_LOW);
    BANDS
    s = settled4(s);
    high = s.high;
    low = s.low;
}
