// A scalar step of BiCGStab(2) after its first. BETA: beta = h.r1 / h.u1, by which the direction turns, of the sums r1.s, r1.r1, s.s, h.r1
// with s = r - alpha u1; else the second alpha, h.r1 / h.u2, of the sums h.u2 and u2.u2. Coefficients: (quotient, h.r1 or h.u2, what y
// moves along M p by so far, frozen); frozen is 2 where s is nothing but rounding, and the rest of the iteration is to be nothing.
#include "include/solver.glsl"
#include "include/shadow.glsl"
// 2^-40
#define ROUNDING 9.094947017729282e-13

void kernel(ivec2 p, out vec4 next, out vec4 report) {
    vec4 sums = total_of_dots();
    vec4 last = last_at(ivec2(0));
    vec4 c = coefficients_at(ivec2(0));
#if BETA
    float hv = sums.w;
    float quotient = hv / c.y;
    float along = c.x;
    bool settled = c.w == 0.0 && sums.z <= ROUNDING * last.z;
    float missed = SHADOW;
#else
    float hv = sums.x;
    float quotient = c.y / hv;
    float along = c.z - quotient * c.x;
    bool settled = c.w == 2.0;
    float missed = SHADOW_DIRECTION;
#endif
    float vv = sums.y;
    float flag = RUNNING;
    float value = 0.0;
    if (!in_range(hv) || !in_range(vv)) { flag = OUT_OF_RANGE; value = vv; }
    else if (is_orthogonal(hv, vv)) { flag = missed; value = cosine(hv, vv); }
    else if (!in_range(quotient)) { flag = OUT_OF_RANGE; value = quotient; }
    bool frozen = c.w == 1.0 || last.x != RUNNING;
    if (settled) flag = RUNNING;
    report = frozen || flag == RUNNING ? last : vec4(flag, last.y - 1.0, last.z, value);
    if (frozen || flag != RUNNING) next = vec4(0.0, 0.0, 0.0, 1.0);
    else if (settled) next = vec4(0.0, 0.0, BETA == 1 ? c.x : c.z, 2.0);
    else next = vec4(quotient, hv, along, 0.0);
}
