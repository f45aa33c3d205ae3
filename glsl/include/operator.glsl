// An operator on a grid, applied: (A x)_i = shift x_i + sum over axes of weight (sum over two neighbours j of (x_i - x_j))
// for the four cells of a texel, and its diagonal. A side at distance d from the last cell (in cells) has the value zero
// there: x_i / d in place of the difference; or no flux: nothing. Differences come before weights: on a smooth field
// they are small and exact. A solid cell's row is `interior x_i`.
#ifndef TEXLA_INCLUDE_OPERATOR
#define TEXLA_INCLUDE_OPERATOR
#include "include/stencil.glsl"

vec4 flux(vec4 x0, Tap tap, float inverse_distance) {
    return (tap.open * x0 - tap.value) + (tap.side * inverse_distance) * x0;
}

vec4 share(Tap tap, float inverse_distance) { return tap.open + tap.side * inverse_distance; }

// What lies in the six directions of the four cells.
struct Near { Tap low_x; Tap high_x; Tap low_y; Tap high_y; Tap low_z; Tap high_z; };

Near near(vec4 x0, Place c) {
    Near n;
#if AXIS_X
    n.low_x = low_x(x0, c);
    n.high_x = high_x(x0, c);
#endif
#if AXIS_Y
    n.low_y = low_y(c);
    n.high_y = high_y(c);
#endif
#if AXIS_Z
    n.low_z = low_z(c);
    n.high_z = high_z(c);
#endif
    return n;
}

// A x for an x of which these are the values here and near.
vec4 applied_near(vec4 x0, Near n, Place c) {
    ivec4 links = LINKS;
    vec4 sum = weights.w * x0;
#if AXIS_X
    sum += weights.x * (flux(x0, linked(n.low_x, links, 0), at_sides[0])
        + flux(x0, linked(n.high_x, links, 1), at_sides[1]));
#endif
#if AXIS_Y
    sum += weights.y * (flux(x0, linked(n.low_y, links, 2), at_sides[2])
        + flux(x0, linked(n.high_y, links, 3), at_sides[3]));
#endif
#if AXIS_Z
    sum += weights.z * (flux(x0, linked(n.low_z, links, 4), at_sides[4])
        + flux(x0, linked(n.high_z, links, 5), at_sides[5]));
#endif
#if SOLIDS
    sum = mix(sum, interior * x0, is_solid(links));
#endif
    return sum;
}

vec4 applied(vec4 x0, Place c) { return applied_near(x0, near(x0, c), c); }

vec4 diagonal(Place c) {
    ivec4 links = LINKS;
    vec4 sum = vec4(weights.w);
    vec4 none = vec4(0.0);
#if AXIS_X
    sum += weights.x * (share(linked(low_x(none, c), links, 0), at_sides[0])
        + share(linked(high_x(none, c), links, 1), at_sides[1]));
#endif
#if AXIS_Y
    sum += weights.y * (share(linked(low_y(c), links, 2), at_sides[2])
        + share(linked(high_y(c), links, 3), at_sides[3]));
#endif
#if AXIS_Z
    sum += weights.z * (share(linked(low_z(c), links, 4), at_sides[4])
        + share(linked(high_z(c), links, 5), at_sides[5]));
#endif
#if SOLIDS
    sum = mix(sum, vec4(interior), is_solid(links));
#endif
    return sum;
}
#endif
