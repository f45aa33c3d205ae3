// The scalar step of a solve, for every problem: is its bound met, is its relaxation too large, does momentum help?
//   control: (omega, sweep since which momentum builds up or -1, s.Ds at the last step, sweep of the last progress)
//   report:  (flag, sweeps, largest residual, smallest sum of residuals)
// The sums are those of glsl/lcp/sums.frag. For symmetric A the quotient s.As / As.D^-1 As is at least 1 / lambda_max
// (D^-1 A), whatever the step s: a relaxation far above it is too large for certain.
#include "include/flags.glsl"
// The norm of a power iteration comes from below.
#define SAFETY 1.1
// Without momentum the limit is 2; with it 4/3, and 1 is best.
#define PLAIN 1.6
#define TOO_LARGE_PLAIN 1.9
#define TOO_LARGE_MOMENTUM 1.2
// More than rounding, in x.A y - y.A x relative to both norms: not symmetric.
#define ASYMMETRY 0.000244140625
// 2^-38: omega |As| below 2^-19 |x| is rounding, and says nothing of A.
#define ROUNDING 3.637978807091713e-12
// Residuals whose sum is this many times the best one have been blown up.
#define BLOWN_UP 1.0e3
#define CEILING 1.0e18
// What counts as progress. The sum tells more than the largest: that may stay what it is while a front moves on.
#define PROGRESS 0.99

void kernel(ivec2 p, out vec4 next_control, out vec4 next_report) {
    int problem = texel_index(p);
    vec4 c = control_at(p);
    vec4 last = report_at(p);
    next_control = c;
    next_report = last;
    if (last.x != RUNNING) return;

    ivec2 range = ivec2(ranges_texel(problem).xy);
    vec4 a = vec4(0.0);
    vec4 b = vec4(0.0);
    for (int k = 0; k < range.y; ++k) {
        vec4 part = part_a_texel(range.x + k);
        a = vec4(max(a.x, part.x), a.yzw + part.yzw);
        b += part_b_texel(range.x + k);
    }

    vec4 power = spectrum_at(p);
    float largest = SAFETY * max(power.x, 1.0);
    bool momentum = c.y >= 0.0;
    float best = last.w;
    if (sweep == 0.0) {
        // omega is 0 where it is to be found.
        momentum = momentum && power.z <= ASYMMETRY;
        float omega = c.x > 0.0 ? c.x : (momentum ? 1.0 : PLAIN) / largest;
        c = vec4(omega, 0.0, 0.0, 0.0);
        best = 3.0e38;
    }

    if (b.z < PROGRESS * best) {
        best = b.z;
        c.w = sweep;
    }

    float steps = a.w;
    bool telling = in_range(a.y) && in_range(a.z) && c.x * c.x * a.z > ROUNDING * b.y;
    if (adapts != 0 && sweep > 0.0 && telling) {
        float slack = a.y / (c.x * a.z);
        if (momentum && slack * TOO_LARGE_MOMENTUM < 1.0) {
            c.x *= max(slack, 0.5);
            c.y = sweep;
            // The power iteration is not off by as much: A is not symmetric after all.
            momentum = c.x * largest >= 0.25;
        } else if (!momentum && slack * TOO_LARGE_PLAIN < 1.0 && c.z > 0.0 && steps > 0.9 * c.z) {
            c.x *= 0.5;
            steps = 0.0;
        }
    }
    c.z = steps;
    // Uphill along the last step: momentum has gone too far.
    if (b.x > 0.0) c.y = sweep;
    bool blown_up = b.z > BLOWN_UP * best;
    if (blown_up) momentum = false;

    float flag = RUNNING;
    if (!in_range(a.x) || a.x > CEILING) flag = OUT_OF_RANGE;
    else if (a.x <= goals_at(p).x) flag = MET;
    else if (sweep >= goals_at(p).z) flag = EXHAUSTED;
    else if (sweep - c.w >= max(goals_at(p).w, 0.5 * sweep)) {
        // Without progress for so many sweeps, and for half of all.
        if (momentum) {
            momentum = false;
            c.w = sweep;
        } else {
            flag = blown_up ? OUT_OF_RANGE : STALLED;
        }
    }
    if (!momentum) c.y = -1.0;
    next_control = c;
    next_report = vec4(flag, sweep, a.x, best);
}
