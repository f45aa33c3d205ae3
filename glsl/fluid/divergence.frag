// What flows out of each cell through its faces, all of area 1: factor times the sum over axes of the difference of two
// opposite faces. With SKIP_NOISE what rounding alone can make of these counts as nothing, so that a solver is not
// asked to remove what it cannot see.
#include "include/staggered.glsl"

// The difference along an axis, and the sum of magnitudes in it.
vec2 across(int field, ivec3 q) {
    float low = value_at(field, q);
    float high = value_at(field, q + along_axis(field));
    return vec2(high - low, abs(high) + abs(low));
}

float outflow(ivec3 q) {
    vec2 sum = across(U, q) + across(V, q);
#if DIMENSIONS == 3
    sum += across(W, q);
#endif
#if SKIP_NOISE
    // 2^-22; and what is rest, whose mean would lie below the normal range of floats.
    return abs(sum.x) <= max(2.384185791015625e-7 * sum.y, 1.0e-30) ? 0.0 : sum.x;
#else
    return sum.x;
#endif
}

vec4 kernel(ivec2 p) {
    ivec3 q = place_of(4 * texel_index(p), cells);
    vec4 result = vec4(0.0);
    for (int c = 0; c < 4; ++c) {
        result[c] = factor * outflow(q);
        q = following(q, cells);
    }
    return result;
}
