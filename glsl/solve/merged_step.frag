// Scalar step of conjugate gradients with one reduction an iteration: from d.q, q.Mq, r.Mr and r.r
//   alpha = r.Mr / d.q,  beta = (alpha^2 q.Mq - r.Mr) / r.Mr.
// FINDS_UNIT: r.r, relative to which the bound is from now on.
// beta is what the next r.Mr will be, by the orthogonality of residuals; r.Mr itself is summed anew every iteration.
#include "include/solver.glsl"

#if FINDS_UNIT
void kernel(ivec2 p, out vec4 coefficients, out vec4 report, out vec4 unit) {
#else
void kernel(ivec2 p, out vec4 coefficients, out vec4 report) {
#endif
    vec4 sums = total_of_dots();
    vec4 last = last_at(ivec2(0));
    float dq = sums.x;
    float qmq = sums.y;
    float rz = sums.z;
    float rr = sums.w;
#if FINDS_UNIT
    unit = vec4(rr, 0.0, 0.0, 0.0);
    float most = threshold * rr;
#else
    float most = bound();
#endif
    float alpha = rz / dq;
    float beta = max((alpha * (alpha * qmq) - rz) / rz, 0.0);
    float flag = RUNNING;
    float value = 0.0;
    if (!in_range(rr) || rr > ceiling) { flag = OUT_OF_RANGE; value = rr; }
    else if (rr <= most) flag = MET;
    else if (last.y >= limit) flag = EXHAUSTED;
    else if (!in_range(dq) || !in_range(rz)) { flag = OUT_OF_RANGE; value = in_range(dq) ? rz : dq; }
    else if (dq <= 0.0) { flag = CURVATURE; value = dq; }
    else if (rz <= 0.0) { flag = INDEFINITE; value = rz; }
    else if (!in_range(alpha) || !in_range(beta)) { flag = OUT_OF_RANGE; value = alpha; }
    bool frozen = last.x != RUNNING;
    report = frozen ? last : vec4(flag, last.y + (flag == RUNNING ? 1.0 : 0.0), rr, value);
    coefficients = frozen || flag != RUNNING ? vec4(0.0, 0.0, 1.0, 0.0) : vec4(alpha, beta, 0.0, 0.0);
}
