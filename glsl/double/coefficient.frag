// The coefficient of a projection in pairs: -n.v / n.n as a pair, n.v and n.n rounded.
#include "include/pairs.glsl"
#define TOTAL(a, b) add_sums(a, b)
#include "include/total.glsl"

vec4 kernel(ivec2 p) {
    vec4 sums = total_of_dots();
    vec2 c = sums.z > 0.0 ? divide_pairs(-sums.xy, sums.zw) : vec2(0.0);
    return vec4(c, sums.xz);
}
