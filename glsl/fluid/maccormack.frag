// g + (f - f') / 2, where g is f advected and f' is g advected backwards [Selle et al. 2008]: second order where f is
// smooth. Outside the values around the place that the fluid comes from, it would be a new extremum: there it ends.
#include "include/trace.glsl"

#if SOLIDS
vec2 range_of(ivec3 q, vec2 range) {
    vec2 corner = corner_of(F, q);
    return corner.y > 0.0 ? vec2(min(range.x, corner.x), max(range.y, corner.x)) : range;
}
#else
vec2 range_of(ivec3 q, vec2 range) {
    float value = value_at(F, q);
    return vec2(min(range.x, value), max(range.y, value));
}
#endif

vec2 range_of_plane(ivec3 q, vec2 range) {
    range = range_of(q + ivec3(1, 0, 0), range_of(q, range));
    return range_of(q + ivec3(1, 1, 0), range_of(q + ivec3(0, 1, 0), range));
}

float corrected(ivec3 at, int number) {
    vec3 from = traced(at, -1.0);
    ivec3 q = at + ivec3(floor(from));
    float forth = element(G, number);
    float back = carried(G, at, traced(at, 1.0));
    vec2 range = range_of_plane(q, vec2(forth, forth));
#if DIMENSIONS == 3
    range = range_of_plane(q + ivec3(0, 0, 1), range);
#endif
    return clamp(forth + 0.5 * (element(F, number) - back), range.x, range.y);
}

vec4 kernel(ivec2 p) {
    ivec3 n = extent_of(F);
    ivec3 at = place_of(4 * texel_index(p), n);
    vec4 result = vec4(0.0);
    for (int c = 0; c < 4; ++c) {
        result[c] = corrected(at, number_of(at, n));
        at = following(at, n);
    }
    return HOLD(result);
}
