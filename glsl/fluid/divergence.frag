// What flows out of each cell through its faces, all of area 1: factor times the sum over axes of the difference of two
// opposite faces.
#include "include/staggered.glsl"

float outflow(ivec3 q) {
    float sum = value_at(U, q + ivec3(1, 0, 0)) - value_at(U, q);
    sum += value_at(V, q + ivec3(0, 1, 0)) - value_at(V, q);
#if DIMENSIONS == 3
    sum += value_at(W, q + ivec3(0, 0, 1)) - value_at(W, q);
#endif
    return sum;
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
