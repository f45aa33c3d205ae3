// out = alpha x + y for pairs of floats, each sum and product held in two: off by a few 2^-48 of |alpha x| + |y| at most.
// PAIR says that x is a pair, SCALED that alpha is one, in a texel; of these two one at most.
#include "include/pairs.glsl"

void kernel(ivec2 p, out vec4 high, out vec4 low) {
#if defined(SCALED)
    vec2 alpha = coefficient_at(ivec2(0)).xy;
    Pair4 x = times_float4(Pair4(vec4(alpha.x), vec4(alpha.y)), x_here());
#elif defined(PAIR)
    Pair4 x = times_float4(Pair4(x_here(), x_low_here()), vec4(alpha));
#else
    Pair4 x = two_product4(x_here(), vec4(alpha));
#endif
    Pair4 s = add_pairs4(x, Pair4(y_here(), y_low_here()));
    high = s.high;
    low = s.low;
}
