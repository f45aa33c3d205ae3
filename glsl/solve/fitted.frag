// out = factor x: the best multiple of a guess. A factor that is no number, or none of use, leaves no guess, whatever x is:
// what has overflown once would be the guess for ever.
#include "include/flags.glsl"

vec4 kernel(ivec2 p) {
    float c = factor_at(ivec2(0)).x;
    return in_range(c) && c != 0.0 ? c * x_here() : vec4(0.0);
}
