// MINRES begins with the residual: the sums are r.Mr and r.r. For rotations and norms see minres_step.frag, for the mark
// minres_alpha.frag.
#include "include/solver.glsl"

void kernel(ivec2 p, out vec4 report, out vec4 rotations, out vec4 norms, out vec4 mark) {
    vec2 sums = total_of_dots().xy;
    float rz = sums.x;
    float rr = sums.y;
    float iterations = last_at(ivec2(0)).y;
    float flag = RUNNING;
    float value = 0.0;
    if (!in_range(rr) || rr > ceiling) { flag = OUT_OF_RANGE; value = rr; }
    else if (rr <= bound()) flag = MET;
    else if (!in_range(rz)) { flag = OUT_OF_RANGE; value = rz; }
    else if (rz <= 0.0) { flag = INDEFINITE; value = rz; }
    else if (iterations >= limit) flag = EXHAUSTED;
    bool running = flag == RUNNING;
    float gamma = running ? sqrt(rz) : 1.0;
    report = vec4(flag, iterations, rr, value);
    // Nothing is before the first column: what directions hold then is anything.
    rotations = vec4(1.0, 0.0, 0.0, 0.0);
    norms = vec4(gamma, 1.0, gamma, running ? rr / rz : 1.0);
    mark = vec4(rr, iterations, 0.0, 0.0);
}
