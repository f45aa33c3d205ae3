// One stage of a reduction: a target texel combines a window of source texels, lane by lane
// ([Krueger05] 44.3.2 and [BeyondVector] 28.4.2, whose window is 2x2). Windows past an odd edge are cut off.
// The last stage also combines the four lanes.
#if defined(OP_SUM) || defined(OP_DOT) || defined(OP_SQUARES)
#include "include/prelude.glsl"
#define IDENTITY 0.0
#define COMBINE(a, b) ((a) + (b))
#elif defined(OP_PAIRS)
// Two sums of pairs in a texel.
#include "include/pairs.glsl"
#define IDENTITY 0.0
#define COMBINE(a, b) add_sums(a, b)
#elif defined(OP_NON_FINITE)
#define IDENTITY 0.0
#define COMBINE(a, b) ((a) + (b))
#elif defined(OP_MAX_ABS)
#define IDENTITY 0.0
#define COMBINE(a, b) max(a, b)
#elif defined(OP_MAX)
#define IDENTITY -3.4028235e38
#define COMBINE(a, b) max(a, b)
#elif defined(OP_MIN)
#define IDENTITY 3.4028235e38
#define COMBINE(a, b) min(a, b)
#endif

// What a stage reads: the first one maps elements, later ones read partial results.
vec4 term(ivec2 q) {
#if defined(FIRST) && defined(OP_DOT)
    return x_at(q) * y_at(q);
#elif defined(FIRST) && defined(OP_SQUARES)
    // Scaled by a power of two near 1 / max |x|, so that squares neither overflow nor vanish.
    vec4 v = x_at(q) * inverse_scale(y_value());
    return v * v;
#elif defined(FIRST) && defined(OP_NON_FINITE)
    // By the bits: a compiler may take it for granted that no number is NaN or infinite.
    const uvec4 EXPONENT = uvec4(0x7f800000u);
    return vec4(equal(floatBitsToUint(x_at(q)) & EXPONENT, EXPONENT));
#elif defined(FIRST) && defined(OP_MAX_ABS)
    return abs(x_at(q));
#elif defined(FIRST) && (defined(OP_MAX) || defined(OP_MIN))
    // Padding lanes are no elements.
    vec4 v = x_at(q);
    int t = q.x * tail.z + q.y * tail.w;
    int lanes = t < tail.x ? 4 : (t == tail.x ? tail.y : 0);
    return vec4(lanes > 0 ? v.x : IDENTITY, lanes > 1 ? v.y : IDENTITY, lanes > 2 ? v.z : IDENTITY,
                lanes > 3 ? v.w : IDENTITY);
#else
    return x_at(q);
#endif
}

#include "include/window.glsl"

vec4 kernel(ivec2 p) {
#if defined(PLACED)
    // One texel of a texture that collects the results of several textures.
    vec4 total = combined(p - ivec2(place, 0));
#else
    vec4 total = combined(p);
#endif
#if defined(LAST)
    float result = COMBINE(COMBINE(total.x, total.y), COMBINE(total.z, total.w));
#if defined(OP_SQUARES)
    result = sqrt(result) / inverse_scale(scale_value());
#endif
#if defined(MEAN)
    result /= count;
#endif
    return vec4(result, 0.0, 0.0, 0.0);
#else
    return total;
#endif
}
