// alpha = r.z / (d.A d) (least squares: r.z / (A d).(A d)). Coefficients: (alpha, 0, frozen, flag, with the value that
// broke down in place of alpha).
#include "include/solver.glsl"

vec4 kernel(ivec2 p) {
    float dq = total_of_dots().x;
    vec4 last = last_at(ivec2(0));
    float rz = direction_at(ivec2(0)).y;
    if (last.x != RUNNING) return vec4(0.0, 0.0, 1.0, RUNNING);
    if (last.y >= limit) return vec4(0.0, 0.0, 1.0, EXHAUSTED);
    if (!in_range(dq)) return vec4(dq, 0.0, 1.0, OUT_OF_RANGE);
    if (dq <= 0.0) return vec4(dq, 0.0, 1.0, CURVATURE);
    float alpha = rz / dq;
    return in_range(alpha) ? vec4(alpha, 0.0, 0.0, RUNNING) : vec4(alpha, 0.0, 1.0, OUT_OF_RANGE);
}
