// First stage of the reductions of a method: up to four inner products over a window of texels, one in each channel; of pairs
// (WIDE) up to two, (high, low) each. LOADS fetches the texels, TERMS are the products.
// INLINED: x is a register, and its product with the operator is computed where it is read.
// SCALED: registers are multiplied by a power of two near 1 / scale first, so that squares keep within the range of floats.
#include "include/element.glsl"
#ifdef SCALED
#include "include/prelude.glsl"
float unit;
#define IN_RANGE(v) ((v) * unit)
#else
#define IN_RANGE(v) (v)
#endif
#ifdef INLINED
#include "include/product.glsl"
#define ROW_BEGINS(c) begin(c);
#define TEXEL_BEGINS(c) advance(c);
#endif

#if WIDE
vec2 dotted(Pair4 a, Pair4 b) { return sum_of_pairs(times_pair4(a, b)); }
#define COMBINE(a, b) add_sums(a, b)
#else
float dotted(vec4 a, vec4 b) {
    vec4 v = a * b;
    return (v.x + v.y) + (v.z + v.w);
}
#define COMBINE(a, b) ((a) + (b))
#endif

vec4 term(ivec2 c) {
    LOADS
    return vec4(TERMS);
}

#define IDENTITY 0.0
#include "include/window.glsl"

vec4 kernel(ivec2 p) {
#ifdef SCALED
    unit = inverse_scale(scale_value());
#endif
    return combined(p);
}
