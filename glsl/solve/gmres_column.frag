// Column j of the triangle of GMRES: coefficients of A M v_j, orthogonalised twice, turned by the rotations before it; and the rotation
// that takes out what is left below. The other rows stay, and so does all once iterates are frozen.
#include "include/flags.glsl"
#include "include/total.glsl"
#include "include/rotations.glsl"

vec4 kernel(ivec2 p) {
    if (p.y != j || last_at(ivec2(0)).x != RUNNING) return factor_at(p);
    float carried = first_element(0u) + second_element(0u);
    for (int k = 0; k < j; ++k) {
        vec4 turn = rotation(k);
        float next = first_element(uint(k + 1)) + second_element(uint(k + 1));
        if (k == p.x) return vec4(turn.x * carried + turn.y * next, 0.0, 0.0, 0.0);
        carried = turn.x * next - turn.y * carried;
    }
    float below = sqrt(total_of_dots().x);
    float size = max(abs(carried), below);
    // So that squares do not leave the range; of what is no number none is made.
    float all = size == 0.0 ? 0.0 : size * length(vec2(carried, below) / size);
    if (p.x == j) return vec4(all, 0.0, 0.0, 0.0);
    if (p.x != restart) return vec4(0.0);
    vec2 turn = all > 0.0 ? vec2(carried, below) / all : vec2(1.0, 0.0);
    return vec4(turn, turn.x * state_at(ivec2(0)).z, below);
}
