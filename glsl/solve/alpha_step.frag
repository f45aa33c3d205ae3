// alpha = s.z / (A d).(A d) of least squares. Coefficients: (alpha, 0, frozen, flag, with the value that broke down in place
// of alpha). The second sum is the squared norm of b - A x, which may meet a bound of its own.
#include "include/solver.glsl"

vec4 kernel(ivec2 p) {
    vec2 sums = total_of_dots().xy;
    float dq = sums.x;
    vec4 last = last_at(ivec2(0));
    float rz = direction_at(ivec2(0)).y;
    if (last.x != RUNNING) return vec4(0.0, 0.0, 1.0, RUNNING);
    if (last.y >= limit) return vec4(0.0, 0.0, 1.0, EXHAUSTED);
    if (least > 0.0 && sums.y <= least) return vec4(0.0, 0.0, 1.0, MET);
    if (!in_range(dq)) return vec4(dq, 0.0, 1.0, OUT_OF_RANGE);
    if (dq <= 0.0) return vec4(dq, 0.0, 1.0, CURVATURE);
    float alpha = rz / dq;
    return in_range(alpha) ? vec4(alpha, 0.0, 0.0, RUNNING) : vec4(alpha, 0.0, 1.0, OUT_OF_RANGE);
}
