// First stage of a reduction of pairs: two sums over a window of texels, each (high, low).
// DOT: x.y, and nothing   SQUARES: x.x, of x times a power of two near 1 / max |x|
// ALONG: x.y and x.x for floats x
#include "include/pairs.glsl"
#include "include/prelude.glsl"

#if X_PAIR
#define X_LOW x_low_at
#else
#define X_LOW(c) vec4(0.0)
#endif
#if Y_PAIR
#define Y_LOW y_low_at
#else
#define Y_LOW(c) vec4(0.0)
#endif

vec4 term(ivec2 c) {
#if defined(DOT)
    Pair4 x4 = Pair4(x_at(c), X_LOW(c));
    return vec4(sum_of_pairs(times_pair4(x4, Pair4(y_at(c), Y_LOW(c)))), 0.0, 0.0);
#elif defined(ALONG)
    Pair4 x4 = Pair4(x_at(c), vec4(0.0));
    return vec4(sum_of_pairs(times_float4(Pair4(y_at(c), Y_LOW(c)), x4.high)), sum_of_pairs(times_float4(x4, x4.high)));
#elif defined(SQUARES)
    float unit = inverse_scale(scale_value());
    Pair4 x4 = Pair4(x_at(c) * unit, X_LOW(c) * unit);
    return vec4(sum_of_pairs(times_pair4(x4, x4)), 0.0, 0.0);
#endif
}

#define IDENTITY 0.0
#define COMBINE(a, b) add_sums(a, b)
#include "include/window.glsl"

vec4 kernel(ivec2 p) {
    return combined(p);
}
