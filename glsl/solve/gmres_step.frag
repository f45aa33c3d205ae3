// What follows from column j of the triangle: the residual that the columns so far leave, and the tests.
#include "include/flags.glsl"
#include "include/rotations.glsl"

void kernel(ivec2 p, out vec4 report, out vec4 next_state) {
    vec4 last = last_at(ivec2(0));
    vec4 state = state_at(ivec2(0));
    vec4 turn = rotation(j);
    float diagonal = factor_at(ivec2(j)).x;
    float left = -turn.y * state.z;
    float rr = left * left;
    float iterations = last.y + 1.0;
    float flag = RUNNING;
    float value = 0.0;
    if (!in_range(diagonal) || !in_range(rr)) { flag = OUT_OF_RANGE; value = diagonal; }
    else if (!(diagonal > 0.0)) { flag = CURVATURE; value = diagonal; }
    else if (rr <= threshold) flag = MET;
    else if (iterations >= limit) flag = EXHAUSTED;
    bool counts = flag == RUNNING || flag == MET || flag == EXHAUSTED;
    if (!counts) { iterations = last.y; rr = last.z; }
    bool frozen = last.x != RUNNING;
    report = frozen ? last : vec4(flag, iterations, rr, value);
    float inverse = flag == RUNNING && !frozen ? 1.0 / turn.w : 0.0;
    next_state = frozen ? vec4(state.x, 0.0, state.zw)
                        : vec4(counts ? float(j + 1) : float(j), inverse, counts ? left : state.z, state.w);
}
