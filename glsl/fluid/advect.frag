// f(x) = f(where the fluid at x was a time step ago): semi-Lagrangian advection [Stam 1999], stable for every step.
#include "include/trace.glsl"

vec4 kernel(ivec2 p) {
    ivec3 n = extent_of(F);
    ivec3 at = place_of(4 * texel_index(p), n);
    vec4 result = vec4(0.0);
    for (int c = 0; c < 4; ++c) {
        result[c] = carried(F, at, traced(at, -1.0));
        at = following(at, n);
    }
    return HOLD(result);
}
