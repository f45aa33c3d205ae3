// Second scalar step of BiCGStab, from s = r - alpha v and t = A M s: omega minimises |s - omega t|, but is not let
// sink where s and t are nearly orthogonal (Sleijpen and van der Vorst, 1995), and beta = -(h.t) / (h.v), for h.s = 0.
// Coefficients: (alpha, omega, beta, frozen).
#include "include/solver.glsl"
#include "include/shadow.glsl"

void kernel(ivec2 p, out vec4 next, out vec4 report) {
    vec4 sums = total_of_dots();
    vec4 last = last_at(ivec2(0));
    vec4 c = coefficients_at(ivec2(0));
    float ts = sums.x;
    float tt = sums.y;
    float ss = sums.z;
    float ht = sums.w;
    float omega = tt > 0.0 ? kept_from_sinking(ts, ss, tt) : 0.0;
    float beta = -ht / c.y;
    float flag = RUNNING;
    float value = 0.0;
    if (!in_range(ss) || !in_range(tt)) { flag = OUT_OF_RANGE; value = ss; }
    else if (!(tt > 0.0) && ss > threshold) { flag = CURVATURE; value = tt; }
    else if (!in_range(omega) || !in_range(beta)) { flag = OUT_OF_RANGE; value = omega; }
    bool frozen = c.w != 0.0 || last.x != RUNNING;
    report = frozen || flag == RUNNING ? last : vec4(flag, last.y - 1.0, last.z, value);
    next = frozen || flag != RUNNING ? vec4(0.0, 0.0, 0.0, 1.0) : vec4(c.x, omega, beta, 0.0);
}
