// A column of MINRES: the rotation that makes a triangle of it, the residual that it leaves, and the tests. The first sum is v'.z'.
//   rotations: (c, s) of this column and (c, s) of the one before
//   norms: (gamma, gamma_before, eta, share): eta is the norm of the residual in that of M; share times its square is taken for r.r
//   coefficients of the update, w' = a z - b w_before - d w and y' = y + e w': (a, b, d, e), all zero where nothing is to move
#include "include/solver.glsl"

void kernel(ivec2 p, out vec4 report, out vec4 rotations, out vec4 norms, out vec4 coefficients) {
    vec4 last = last_at(ivec2(0));
    vec4 turns = rotations_before_at(ivec2(0));
    vec4 before = norms_before_at(ivec2(0));
    float delta = lanczos_at(ivec2(0)).w;
    float square = total_of_dots().x;
    float gamma = before.x;
    float next = square > 0.0 ? sqrt(square) : 0.0;
    float rest = turns.x * delta - turns.z * turns.y * gamma;
    float diagonal = length(vec2(rest, next));
    float inverse = 1.0 / diagonal;
    float eta = -next * inverse * before.z;
    float rr = eta * eta * before.w;
    float left = mark_at(ivec2(0)).z;
    float iterations = last.y + 1.0;
    float flag = RUNNING;
    float value = 0.0;
    if (!in_range(delta)) { flag = OUT_OF_RANGE; value = delta; }
    else if (!in_range(square)) { flag = OUT_OF_RANGE; value = square; }
    else if (square < 0.0) { flag = INDEFINITE; value = square; }
    else if (!(diagonal > 0.0)) { flag = CURVATURE; value = diagonal; }
    else if (!in_range(inverse) || !in_range(rr)) { flag = OUT_OF_RANGE; value = inverse; }
    else if (rr <= bound()) flag = MET;
    else if (left != 0.0) { flag = STALLED; value = left; }
    else if (iterations >= limit) flag = EXHAUSTED;
    bool frozen = last.x != RUNNING;
    bool counts = !frozen && (flag == RUNNING || flag == MET || flag == STALLED || flag == EXHAUSTED);
    report = frozen ? last : counts ? vec4(flag, iterations, rr, value) : vec4(flag, last.y, last.z, value);
    rotations = counts ? vec4(rest * inverse, next * inverse, turns.xy) : turns;
    norms = counts ? vec4(next, gamma, eta, before.w) : before;
    coefficients = counts ? vec4(inverse / gamma, turns.w * gamma * inverse,
                                 (turns.y * delta + turns.z * turns.x * gamma) * inverse, rest * inverse * before.z)
                          : vec4(0.0);
}
