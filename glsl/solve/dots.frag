// First stage of a solver's reductions: up to four inner products over a window of texels, one in each channel.
// FIT: -d.r, d.q    RESIDUAL: r.z, r.r
// PROGRESS: r.r, s.s, x.x with s = x - kept; r is multiplied by factors.x, s and x are by factors.y
// FACTS: how many elements of x are not finite, of v besides below the normal range but not zero, of x not zero; and v.v
// BOUNDED: in place of the third e.e of a bound on the error of v, which is multiplied by 2^40 first
// INLINED: x is d, and q is computed where it is read.
// SCALED: vectors are multiplied by a power of two near 1 / scale first, so that squares keep within the range of floats.
#ifdef SCALED
#include "include/prelude.glsl"
float unit;
#define IN_RANGE(v) ((v) * unit)
#else
#define IN_RANGE(v) (v)
#endif
#ifdef INLINED
#include "include/product.glsl"
#define d_at(c) x_own
#define q_at product
#define ROW_BEGINS(c) begin(c);
#define TEXEL_BEGINS(c) advance(c);
#endif

float sum4(vec4 v) { return (v.x + v.y) + (v.z + v.w); }

vec4 term(ivec2 c) {
#if defined(FIT)
    vec4 d4 = IN_RANGE(d_at(c));
    return vec4(-sum4(d4 * IN_RANGE(r_at(c))), sum4(d4 * IN_RANGE(q_at(c))), 0.0, 0.0);
#elif defined(PROGRESS)
    vec4 r4 = r_at(c) * factors.x;
    vec4 x4 = x_at(c) * factors.y;
    vec4 s4 = x4 - kept_at(c) * factors.y;
    return vec4(sum4(r4 * r4), sum4(s4 * s4), sum4(x4 * x4), 0.0);
#elif defined(FACTS)
    // By the bits: a compiler may take it for granted that no number is NaN or infinite, and a device what lies below the
    // normal range for zero.
    vec4 v4 = v_at(c);
    uvec4 of_x = floatBitsToUint(x_at(c)) & 0x7fffffffu;
    uvec4 of_v = floatBitsToUint(v4) & 0x7fffffffu;
    // Zero, less one, is the largest word.
    vec4 odd = vec4(greaterThanEqual(of_v, uvec4(0x7f800000u))) + vec4(lessThan(of_v - 1u, uvec4(0x007fffffu)));
#ifdef BOUNDED
    vec4 e4 = e_at(c) * 1099511627776.0;
    uvec4 of_e = floatBitsToUint(e4) & 0x7fffffffu;
    // Out of range by all means, where it is not finite.
    float third = any(greaterThanEqual(of_e, uvec4(0x7f800000u))) ? 1.0e38 : sum4(e4 * e4);
#else
    float third = sum4(vec4(notEqual(of_x, uvec4(0u))));
#endif
    return vec4(sum4(vec4(greaterThanEqual(of_x, uvec4(0x7f800000u)))), sum4(odd), third, sum4(v4 * v4));
#else
    vec4 r4 = IN_RANGE(r_at(c));
    return vec4(sum4(r4 * IN_RANGE(z_at(c))), sum4(r4 * r4), 0.0, 0.0);
#endif
}

#define IDENTITY 0.0
#define COMBINE(a, b) ((a) + (b))
#include "include/window.glsl"

vec4 kernel(ivec2 p) {
#ifdef SCALED
    unit = inverse_scale(scale_value());
#endif
    return combined(p);
}
