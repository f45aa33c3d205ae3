// The curl of the velocity in each cell, from central differences of its means there: in two dimensions the one number
// that is not zero, in three the components and their length. Multiplied by the cell size.
#include "include/staggered.glsl"

float mean_at(int field, ivec3 q) {
    return 0.5 * (value_at(field, q) + value_at(field, q + along_axis(field)));
}

// d(field) / d(axis)
float slope(int field, ivec3 q, int axis) {
    ivec3 step_ = along_axis(axis);
    return 0.5 * (mean_at(field, q + step_) - mean_at(field, q - step_));
}

#if DIMENSIONS == 3
void kernel(ivec2 p, out vec4 x, out vec4 y, out vec4 z, out vec4 size) {
    ivec3 q = place_of(4 * texel_index(p), cells);
    x = vec4(0.0);
    y = vec4(0.0);
    z = vec4(0.0);
    for (int c = 0; c < 4; ++c) {
        x[c] = slope(W, q, 1) - slope(V, q, 2);
        y[c] = slope(U, q, 2) - slope(W, q, 0);
        z[c] = slope(V, q, 0) - slope(U, q, 1);
        q = following(q, cells);
    }
    size = sqrt(x * x + y * y + z * z);
}
#else
vec4 kernel(ivec2 p) {
    ivec3 q = place_of(4 * texel_index(p), cells);
    vec4 z = vec4(0.0);
    for (int c = 0; c < 4; ++c) {
        z[c] = slope(V, q, 0) - slope(U, q, 1);
        q = following(q, cells);
    }
    return z;
}
#endif
