// out = alpha x + y for pairs of floats, each sum and product held in two: off by a few 2^-48 of |alpha x| + |y| at most,
// of 2^-46 of the result where the two have the same sign. PAIR says that x is a pair.
#include "include/exact.glsl"

void kernel(ivec2 p, out vec4 high, out vec4 low) {
    Pair4 x = two_product4(x_here(), vec4(alpha));
#ifdef PAIR
    x = fast_two_sum4(x.high, held4(x.low + held4(x_low_here() * alpha)));
#endif
    Pair4 s = two_sum4(x.high, y_here());
    Pair4 t = two_sum4(x.low, y_low_here());
    s = fast_two_sum4(s.high, held4(s.low + t.high));
    s = fast_two_sum4(s.high, held4(s.low + t.low));
    high = s.high;
    low = s.low;
}
