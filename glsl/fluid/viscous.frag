// The implicit viscous step of one velocity component, (1 + strength L) f with L the sum over neighbours j of
// (f_i - f_j) and the identity in rows that are held. RIGHT_SIDE 0: the product, to which neighbours that are held add
// nothing. RIGHT_SIDE 1: f plus strength times what these, and the walls, add.
#include "include/staggered.glsl"

float part_of(ivec3 q, float own) {
    ivec3 n = extent_of(F);
    ivec3 c = clamp(q, ivec3(0), n - 1);
    ivec3 past = q - c;
    int axis = past.x != 0 ? 0 : (past.y != 0 ? 1 : 2);
    vec2 ghost = ghost_of(F_AXIS, axis, past.x + past.y + past.z);
    int i = number_of(c, n);
#if RIGHT_SIDE
    return q == c ? (1.0 - free_element(uint(i))) * element(F, i) : ghost.x;
#else
    return own - (q == c ? free_element(uint(i)) * element(F, i) : ghost.y * own);
#endif
}

float total_of(ivec3 q, float own) {
    float sum = part_of(q + ivec3(1, 0, 0), own) + part_of(q - ivec3(1, 0, 0), own);
    sum += part_of(q + ivec3(0, 1, 0), own) + part_of(q - ivec3(0, 1, 0), own);
#if DIMENSIONS == 3
    sum += part_of(q + ivec3(0, 0, 1), own) + part_of(q - ivec3(0, 0, 1), own);
#endif
    return sum;
}

vec4 kernel(ivec2 p) {
    ivec3 n = extent_of(F);
    ivec3 q = place_of(4 * texel_index(p), n);
    vec4 own = f_here();
    vec4 free_rows = free_here();
    vec4 sum = vec4(0.0);
    for (int c = 0; c < 4; ++c) {
        sum[c] = total_of(q, own[c]);
        q = following(q, n);
    }
    vec4 result = own + strength * free_rows * sum;
#if RIGHT_SIDE
    return result;
#else
    return COMBINE(alpha * result);
#endif
}
