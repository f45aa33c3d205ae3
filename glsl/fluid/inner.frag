// A velocity component on its free faces alone, those between sides that hold it, and back. EMBED 0: of f, on all faces,
// those from `first` on, as many along each axis as `inner` says. EMBED 1: g, on these, among all faces; others are held.
#include "include/staggered.glsl"

vec4 kernel(ivec2 p) {
    ivec3 all = extent_of(F);
#if EMBED
    ivec3 n = all;
#else
    ivec3 n = inner;
#endif
    ivec3 q = place_of(4 * texel_index(p), n);
    vec4 result = vec4(0.0);
    for (int c = 0; c < 4; ++c) {
#if EMBED
        result[c] = element(G, number_of(clamp(q - first, ivec3(0), inner - 1), inner));
#else
        result[c] = element(F, number_of(min(q + first, all - 1), all));
#endif
        q = following(q, n);
    }
#if EMBED
    return HOLD(result);
#else
    return result;
#endif
}
