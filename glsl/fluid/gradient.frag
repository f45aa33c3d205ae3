// f - (difference of the pressure across each face), f a component of the velocity. The pressure is zero on a side that
// is open, half a cell past the last one; faces at other sides, and those of solids, are held. What is
// left below 1e-30 is rest: products of such numbers leave the range of floats.
#include "include/staggered.glsl"

float pressure_at(ivec3 q) {
    ivec3 c = clamp(q, ivec3(0), cells - 1);
    float value = pressure_element(uint(number_of(c, cells)));
    return q == c ? value : -value;
}

vec4 kernel(ivec2 p) {
    ivec3 n = extent_of(F);
    ivec3 q = place_of(4 * texel_index(p), n);
    vec4 result = vec4(0.0);
    for (int c = 0; c < 4; ++c) {
        result[c] = pressure_at(q) - pressure_at(q - along_axis(F_AXIS));
        q = following(q, n);
    }
    vec4 left = f_here() - result;
    return HOLD(left * vec4(greaterThanEqual(abs(left), vec4(1.0e-30))));
}
