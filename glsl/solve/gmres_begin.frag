// A cycle of GMRES begins: with the residual, whose square is the first sum. A cycle that has taken next to nothing off it is the
// last: FRESH says that there was none before.
#include "include/solver.glsl"

void kernel(ivec2 p, out vec4 report, out vec4 next_state) {
    vec4 last = last_at(ivec2(0));
    float rr = total_of_dots().x;
    float flag = RUNNING;
    float value = 0.0;
    if (!in_range(rr) || rr > ceiling) { flag = OUT_OF_RANGE; value = rr; }
    else if (rr <= bound()) flag = MET;
#if !FRESH
    else if (rr > least_gain * state_at(ivec2(0)).w) { flag = STALLED; value = sqrt(rr / state_at(ivec2(0)).w); }
#endif
    else if (last.y >= limit) flag = EXHAUSTED;
    bool frozen = last.x != RUNNING;
    report = frozen ? last : vec4(flag, last.y, rr, value);
    bool goes_on = !frozen && flag == RUNNING;
    next_state = goes_on ? vec4(0.0, inversesqrt(rr), sqrt(rr), rr) : vec4(0.0);
}
