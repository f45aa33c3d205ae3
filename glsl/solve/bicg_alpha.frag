// First scalar step of BiCGStab: alpha = h.r / h.v with v = A M p and the shadow residual h, and the tests.
// Coefficients: (alpha, h.v, 0, frozen).
#include "include/solver.glsl"
#include "include/shadow.glsl"

void kernel(ivec2 p, out vec4 coefficients, out vec4 report) {
    vec4 sums = total_of_dots();
    vec4 last = last_at(ivec2(0));
    float hv = sums.x;
    float hr = sums.y;
    float rr = sums.z;
    float vv = sums.w;
    float alpha = hr / hv;
    float flag = RUNNING;
    float value = 0.0;
    if (!in_range(rr) || rr > ceiling) { flag = OUT_OF_RANGE; value = rr; }
    else if (rr <= threshold) flag = MET;
    else if (last.y >= limit) flag = EXHAUSTED;
    else if (!in_range(hv) || !in_range(hr) || !in_range(vv)) { flag = OUT_OF_RANGE; value = vv; }
    else if (is_orthogonal(hr, rr)) { flag = SHADOW; value = cosine(hr, rr); }
    else if (is_orthogonal(hv, vv)) { flag = SHADOW_DIRECTION; value = cosine(hv, vv); }
    else if (!in_range(alpha)) { flag = OUT_OF_RANGE; value = alpha; }
    bool frozen = last.x != RUNNING;
    report = frozen ? last : vec4(flag, last.y + (flag == RUNNING ? 1.0 : 0.0), rr, value);
    coefficients = frozen || flag != RUNNING ? vec4(0.0, 0.0, 0.0, 1.0) : vec4(alpha, hv, 0.0, 0.0);
}
