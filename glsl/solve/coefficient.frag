// The coefficient of a projection: (-n.v / n.n, 0, n.v, n.n); or of the best guess, from -x.b and x.A x.
#include "include/total.glsl"

vec4 kernel(ivec2 p) {
    vec4 sums = total_of_dots();
    return vec4(sums.y > 0.0 ? -sums.x / sums.y : 0.0, 0.0, sums.x, sums.y);
}
