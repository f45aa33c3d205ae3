// Of the next Lanczos vector v' = p / gamma - (delta / gamma) v - (gamma / gamma_before) v_before the coefficients, with delta last:
// the first sum is p.z where p = A z and z = M v. All zero once iterates are frozen.
// And every so many iterations whether the residual has come to a halt: (r.r then, iterations then, share of the r.r before that is
// left where it has and 0 where not, 0).
#include "include/flags.glsl"
#include "include/total.glsl"

void kernel(ivec2 p, out vec4 lanczos, out vec4 mark) {
    float pz = total_of_dots().x;
    vec4 norms = norms_at(ivec2(0));
    vec4 last = last_at(ivec2(0));
    mark = mark_before_at(ivec2(0));
    if (last.y - mark.y >= patience) {
        bool halts = last.z > least_gain * mark.x;
        mark = vec4(last.z, last.y, halts ? last.z / mark.x : 0.0, 0.0);
    }
    float delta = pz / norms.x / norms.x;
    bool frozen = last.x != RUNNING;
    lanczos = frozen ? vec4(0.0) : vec4(1.0 / norms.x, delta / norms.x, norms.x / norms.y, delta);
}
