// f - (difference of the pressure across each face), f a component of the velocity. The pressure is zero on a side that
// is open, half a cell past the last one; faces at other sides, and those of solids, are held. What is
// left below 1e-30 is rest: products of such numbers leave the range of floats. PAIRS: the pressure has a low part.
#include "include/staggered.glsl"

// The pressure, and its low part or 0.
vec2 pressure_at(ivec3 q) {
    ivec3 c = clamp(q, ivec3(0), cells - 1);
    uint i = uint(number_of(c, cells));
#if PAIRS
    vec2 value = vec2(pressure_element(i), pressure_low_element(i));
#else
    vec2 value = vec2(pressure_element(i), 0.0);
#endif
    return q == c ? value : -value;
}

vec4 kernel(ivec2 p) {
    ivec3 n = extent_of(F);
    ivec3 q = place_of(4 * texel_index(p), n);
    vec4 result = vec4(0.0);
    for (int c = 0; c < 4; ++c) {
        // High parts nearly cancel, which is exact.
        vec2 change = pressure_at(q) - pressure_at(q - along_axis(F_AXIS));
        result[c] = change.x + change.y;
        q = following(q, n);
    }
    vec4 left = f_here() - result;
    return HOLD(left * vec4(greaterThanEqual(abs(left), vec4(1.0e-30))));
}
