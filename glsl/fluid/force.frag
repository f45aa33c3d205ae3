// f plus what a force or a source adds to each element. SOURCE 0: a constant. 1: factor times the mean of a scalar in the
// two cells beside a face. 2: a bell, constant * exp(-distance^2 / radius^2), places and radius in cells. 3: factor times
// another field of the same kind.
#include "include/staggered.glsl"

#if SOURCE == 1
float scalar_at(ivec3 q) { return scalar_element(uint(number_of(clamp(q, ivec3(0), cells - 1), cells))); }

float added(ivec3 q) { return factor * (0.5 * (scalar_at(q - along_axis(F_AXIS)) + scalar_at(q))); }
#elif SOURCE == 2
float added(ivec3 q) {
    vec3 d = (vec3(q) + origin_of(F) - centre) * inverse_radius;
    float square = d.x * d.x + d.y * d.y;
#if DIMENSIONS == 3
    square += d.z * d.z;
#endif
    return factor * exp(-square);
}
#endif

vec4 kernel(ivec2 p) {
#if SOURCE == 0
    vec4 more = vec4(factor);
#elif SOURCE == 3
    vec4 more = factor * other_here();
#else
    ivec3 n = extent_of(F);
    ivec3 q = place_of(4 * texel_index(p), n);
    vec4 more = vec4(0.0);
    for (int c = 0; c < 4; ++c) {
        more[c] = added(q);
        q = following(q, n);
    }
#endif
    return HOLD(f_here() + more);
}
