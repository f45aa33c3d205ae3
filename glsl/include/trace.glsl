// Where the fluid comes from: back in time along the velocity by the midpoint rule, in the middle of which the velocity
// is interpolated anew. Displacements are counted in cells from the place of an element of f, and end at the sides.
#ifndef TEXLA_INCLUDE_TRACE
#define TEXLA_INCLUDE_TRACE
#include "include/staggered.glsl"

vec3 kept_inside(vec3 place, vec3 d) { return clamp(d, -place, vec3(cells) - place); }

// `rate` = time step over cell size.
vec3 velocity_at(ivec3 at, vec3 d) {
    vec3 from = d + origin_of(F);
#if DIMENSIONS == 3
    float w = sampled(W, at, from - origin_of(W));
#else
    float w = 0.0;
#endif
    return rate * vec3(sampled(U, at, from - origin_of(U)), sampled(V, at, from - origin_of(V)), w);
}

// sign = -1: where it comes from; 1: where it goes.
vec3 traced(ivec3 at, float sign_) {
    vec3 place = vec3(at) + origin_of(F);
    vec3 half_way = kept_inside(place, 0.5 * sign_ * velocity_at(at, vec3(0.0)));
    return kept_inside(place, sign_ * velocity_at(at, half_way));
}

// Interpolation that leaves solid cells out: sum of weight * value, and sum of weights.
#if SOLIDS
vec2 corner_of(int field, ivec3 q) {
    ivec3 c = clamp(q, ivec3(0), cells - 1);
    int i = number_of(c, cells);
    float weight = fluid_element(uint(i));
    return vec2(weight * element(field, i), weight);
}

vec2 blended(vec2 a, vec2 b, float r) { return a + r * (b - a); }

vec2 bilinear_of(int field, ivec3 q, vec2 r) {
    vec2 low = blended(corner_of(field, q), corner_of(field, q + ivec3(1, 0, 0)), r.x);
    vec2 high = blended(corner_of(field, q + ivec3(0, 1, 0)), corner_of(field, q + ivec3(1, 1, 0)), r.x);
    return blended(low, high, r.y);
}
#endif

// f or g at a displaced place; next to nothing but solids it is what it was at `at`.
float carried(int field, ivec3 at, vec3 d) {
#if SOLIDS
    vec3 whole = floor(d);
    vec3 r = d - whole;
    ivec3 q = at + ivec3(whole);
    vec2 sum = bilinear_of(field, q, r.xy);
#if DIMENSIONS == 3
    sum = blended(sum, bilinear_of(field, q + ivec3(0, 0, 1), r.xy), r.z);
#endif
    return sum.y > 1.0e-6 ? sum.x / sum.y : element(field, number_of(at, cells));
#else
    return sampled(field, at, d);
#endif
}
#endif
