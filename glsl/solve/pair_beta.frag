// beta = r'.Mr' / r.Mr of conjugate gradients in pairs, and the tests. Of a residual that has just been recomputed r.Mr
// alone counts.
#include "include/pairs.glsl"
#define TOTAL(a, b) add_sums(a, b)
#include "include/solver.glsl"
#define ITERATION 0

void kernel(ivec2 p, out vec4 next_state, out vec4 report) {
    vec4 sums = total_of_dots();
    vec4 last = last_at(ivec2(0));
    vec4 before = state_at(ivec2(0));
    vec4 c = coefficients_at(ivec2(0));
    vec2 rz = sums.xy;
    float rr = sums.z;
    vec2 beta = entry == ITERATION ? divide_pairs(rz, before.xy) : vec2(0.0);
    float iterations = last.y + (entry == ITERATION ? 1.0 : 0.0);
    float flag = RUNNING;
    float value = 0.0;
    if (entry == ITERATION && c.w != RUNNING) { flag = c.w; value = c.x; iterations = last.y; rr = last.z; }
    else if (!in_range(rr) || rr > ceiling) { flag = OUT_OF_RANGE; value = rr; }
    else if (rr <= bound()) flag = MET;
    else if (!in_range(rz.x) || !in_range(beta.x)) { flag = OUT_OF_RANGE; value = in_range(rz.x) ? beta.x : rz.x; }
    else if (rz.x <= 0.0) { flag = INDEFINITE; value = rz.x; }
    bool frozen = last.x != RUNNING;
    report = frozen ? last : vec4(flag, iterations, rr, value);
    next_state = frozen ? before : vec4(rz, beta);
}
