// beta = (r'.z') / (r.z), and the tests. Direction: (beta, r'.z', frozen, 0).
#include "include/solver.glsl"
#define ITERATION 0
#define START 1

void kernel(ivec2 p, out vec4 next_direction, out vec4 report) {
    vec4 sums = total_of_dots();
    vec4 last = last_at(ivec2(0));
    vec4 before = direction_at(ivec2(0));
    vec4 c = coefficients_at(ivec2(0));
    float rz = sums.x;
    float rr = sums.y;
    float beta = entry == START ? 0.0 : rz / before.y;
    float iterations = last.y + (entry == ITERATION ? 1.0 : 0.0);
    float flag = RUNNING;
    float value = 0.0;
    if (entry == ITERATION && c.w != RUNNING) { flag = c.w; value = c.x; iterations = last.y; rr = last.z; }
    else if (!in_range(rr) || rr > ceiling) { flag = OUT_OF_RANGE; value = rr; }
    else if (rr <= bound()) flag = MET;
    else if (!in_range(rz) || !in_range(beta)) { flag = OUT_OF_RANGE; value = in_range(rz) ? beta : rz; }
    else if (rz <= 0.0) { flag = INDEFINITE; value = rz; }
    // Before the direction is turned: if it is kept, that is by the residual that is recomputed now.
    else if (entry == ITERATION && iterations >= limit) flag = EXHAUSTED;
    bool frozen = last.x != RUNNING;
    report = frozen ? last : vec4(flag, iterations, rr, value);
    next_direction = frozen || flag != RUNNING ? vec4(0.0, before.y, 1.0, 0.0) : vec4(beta, rz, 0.0, 0.0);
}
