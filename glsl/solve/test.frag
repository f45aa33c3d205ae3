// The test of a stationary method: is the bound met, has the residual grown, do the sweeps still move anything?
//   report: (flag, sweeps, r.r, 0)    best: (smallest r.r, sweep of the last progress, 0, 0)
// The sums are r.r, s.s and x.x, with the change s of the iterate x since the last test.
#include "include/solver.glsl"
// What counts as progress, of r.r.
#define PROGRESS 0.98
// r.r of this many times the smallest one has been blown up.
#define BLOWN_UP 1.0e8
// (16 u)^2: sweeps that change x by less only move its last digits.
#define ROUNDING 9.094947017729282e-13

void kernel(ivec2 p, out vec4 next_report, out vec4 next_best) {
    vec4 sums = total_of_dots();
    vec4 last = last_at(ivec2(0));
    vec4 b = best_at(ivec2(0));
    next_report = last;
    next_best = b;
    if (last.x != RUNNING) return;
    float sweeps = last.y + count;
    if (sums.x < PROGRESS * b.x) b = vec4(sums.x, sweeps, 0.0, 0.0);
    bool still = sums.y <= ROUNDING * sums.z && sweeps - b.y >= max(patience, 0.5 * (sweeps - begin));
    float flag = RUNNING;
    // What has left the range may come back as zero, so all three are looked at.
    if (!in_range(sums.x) || !in_range(sums.y) || !in_range(sums.z)) flag = OUT_OF_RANGE;
    else if (sums.x > BLOWN_UP * b.x) flag = OUT_OF_RANGE;
    else if (sums.x <= threshold) flag = MET;
    else if (still) flag = STALLED;
    else if (sweeps >= limit) flag = EXHAUSTED;
    next_report = vec4(flag, sweeps, sums.x, 0.0);
    next_best = b;
}
