// alpha = r.z / d.q and, of r' = r - alpha q, r'.r' = r.r - 2 alpha r.q + alpha^2 q.q: the test comes before the next
// preconditioning instead of after it. What rounding of the sums may have taken from r'.r' is added; a residual that falls
// by so much that nothing else is left is tested by its own sum, when beta is computed.
#include "include/solver.glsl"
#define ROUNDING 3.8146973e-6

void kernel(ivec2 p, out vec4 coefficients, out vec4 report) {
    vec4 sums = total_of_dots();
    vec4 last = last_at(ivec2(0));
    float dq = sums.x;
    float alpha = direction_at(ivec2(0)).y / dq;
    float along = 2.0 * (alpha * sums.y);
    float step = alpha * (alpha * sums.z);
    float rr = max((sums.w - along) + step, 0.0) + ROUNDING * (sums.w + abs(along) + step);
    float flag = RUNNING;
    float value = 0.0;
    if (!in_range(dq)) { flag = OUT_OF_RANGE; value = dq; }
    else if (dq <= 0.0) { flag = CURVATURE; value = dq; }
    else if (!in_range(alpha)) { flag = OUT_OF_RANGE; value = alpha; }
    bool taken = flag == RUNNING;
    float iterations = last.y + (taken ? 1.0 : 0.0);
    if (taken && rr <= bound()) flag = MET;
    else if (taken && iterations >= limit) flag = EXHAUSTED;
    bool frozen = last.x != RUNNING;
    report = frozen ? last : vec4(flag, iterations, taken ? rr : last.z, value);
    coefficients = frozen || !taken ? vec4(0.0, 0.0, 1.0, 0.0) : vec4(alpha, 0.0, 0.0, 0.0);
}
