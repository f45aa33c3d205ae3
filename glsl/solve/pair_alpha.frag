// alpha = r.Mr / d.q of conjugate gradients in pairs. Coefficients: (alpha, its low part, frozen, flag), with the value
// that broke down in place of alpha. State: (r.Mr, beta) as pairs.
#include "include/pairs.glsl"
#define TOTAL(a, b) add_sums(a, b)
#include "include/flags.glsl"
#include "include/total.glsl"

vec4 kernel(ivec2 p) {
    vec2 dq = total_of_dots().xy;
    vec4 last = last_at(ivec2(0));
    if (last.x != RUNNING) return vec4(0.0, 0.0, 1.0, RUNNING);
    if (last.y >= limit) return vec4(0.0, 0.0, 1.0, EXHAUSTED);
    if (!in_range(dq.x)) return vec4(dq.x, 0.0, 1.0, OUT_OF_RANGE);
    if (dq.x <= 0.0) return vec4(dq.x, 0.0, 1.0, CURVATURE);
    vec2 alpha = divide_pairs(state_at(ivec2(0)).xy, dq);
    return in_range(alpha.x) ? vec4(alpha, 0.0, RUNNING) : vec4(alpha.x, 0.0, 1.0, OUT_OF_RANGE);
}
