// Vorticity confinement [Fedkiw et al. 2001]: f + factor * (component of N x curl), N the unit vector towards more
// curl, at each face the mean of the two cells beside it. Where the curl does not change there is no direction.
#include "include/staggered.glsl"

uint cell_number(ivec3 q) { return uint(number_of(clamp(q, ivec3(0), cells - 1), cells)); }

#if DIMENSIONS == 3
float strength_at(ivec3 q) { return size_element(cell_number(q)); }
vec3 curl_at(ivec3 q) {
    uint i = cell_number(q);
    return vec3(x_element(i), y_element(i), z_element(i));
}
#else
float strength_at(ivec3 q) { return abs(z_element(cell_number(q))); }
vec3 curl_at(ivec3 q) { return vec3(0.0, 0.0, z_element(cell_number(q))); }
#endif

float rise(ivec3 q, int axis) { return strength_at(q + along_axis(axis)) - strength_at(q - along_axis(axis)); }

float force_at(ivec3 q) {
    vec3 n = vec3(rise(q, 0), rise(q, 1), 0.0);
#if DIMENSIONS == 3
    n.z = rise(q, 2);
#endif
    float size_ = sqrt(n.x * n.x + n.y * n.y + n.z * n.z);
    n = size_ > 1.0e-12 ? n / size_ : vec3(0.0);
    vec3 w = curl_at(q);
#if F_AXIS == 0
    return n.y * w.z - n.z * w.y;
#elif F_AXIS == 1
    return n.z * w.x - n.x * w.z;
#else
    return n.x * w.y - n.y * w.x;
#endif
}

vec4 kernel(ivec2 p) {
    ivec3 n = extent_of(F);
    ivec3 q = place_of(4 * texel_index(p), n);
    vec4 more = vec4(0.0);
    for (int c = 0; c < 4; ++c) {
        more[c] = 0.5 * (force_at(q) + force_at(q - along_axis(F_AXIS)));
        q = following(q, n);
    }
    return HOLD(f_here() + factor * more);
}
