// out = x y for pairs of floats, settled: off by less than 2^-44 of it. X_PAIR, Y_PAIR: which has a low part. SCALED: y is alpha.
#include "include/pairs.glsl"

void kernel(ivec2 p, out vec4 high, out vec4 low) {
#if X_PAIR
    Pair4 x = Pair4(x_here(), x_low_here());
#else
    Pair4 x = Pair4(x_here(), vec4(0.0));
#endif
#if SCALED
    Pair4 product = times_float4(x, vec4(alpha));
#elif Y_PAIR
    Pair4 product = times_pair4(x, Pair4(y_here(), y_low_here()));
#else
    Pair4 product = times_float4(x, y_here());
#endif
    product = fast_two_sum4(product.high, product.low);
    high = product.high;
    low = product.low;
}
