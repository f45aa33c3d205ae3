// Last scalar step of BiCGStab(2): |r0 - gamma1 r1 - gamma2 r2| is least, but gamma2 is not let sink where what r1 leaves of r0 and of
// r2 is nearly orthogonal; and beta = (h.r2) / (h.u2). Sums: r2.r1, r2.r2, r1.r1, h.r2; and of onto r0.r1, r0.r0, -, r0.r2.
// Coefficients: (gamma1, gamma2, beta, frozen).
#include "include/solver.glsl"
#include "include/shadow.glsl"
// Of r2 no less is left by r1 than rounding makes of its square.
#define LEAST_LEFT 9.5367431640625e-7

void kernel(ivec2 p, out vec4 next, out vec4 report) {
    vec4 sums = total_of_dots();
    vec4 onto = onto_at(ivec2(0));
    vec4 last = last_at(ivec2(0));
    vec4 c = coefficients_at(ivec2(0));
    float r1r1 = sums.z;
    float along0 = r1r1 > 0.0 ? onto.x / r1r1 : 0.0;
    float along2 = r1r1 > 0.0 ? sums.x / r1r1 : 0.0;
    float left0 = max(onto.y - along0 * onto.x, 0.0);
    float left2 = max(sums.y - along2 * sums.x, LEAST_LEFT * sums.y);
    float gamma2 = left2 > 0.0 ? kept_from_sinking(onto.w - along2 * onto.x, left0, left2) : 0.0;
    float gamma1 = along0 - along2 * gamma2;
    float beta = sums.w / c.y;
    float flag = RUNNING;
    float value = 0.0;
    if (!in_range(onto.y) || !in_range(r1r1) || !in_range(sums.y)) { flag = OUT_OF_RANGE; value = onto.y; }
    else if (!(r1r1 > 0.0) && onto.y > threshold) { flag = CURVATURE; value = r1r1; }
    else if (!in_range(gamma1) || !in_range(gamma2) || !in_range(beta)) { flag = OUT_OF_RANGE; value = gamma2; }
    bool frozen = c.w == 1.0 || last.x != RUNNING;
    bool settled = c.w == 2.0;
    if (settled) flag = RUNNING;
    report = frozen || flag == RUNNING ? last : vec4(flag, last.y - 1.0, last.z, value);
    if (frozen || flag != RUNNING) next = vec4(0.0, 0.0, 0.0, 1.0);
    else next = settled ? vec4(0.0) : vec4(gamma1, gamma2, beta, 0.0);
}
