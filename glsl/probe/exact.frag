// out = two-sum and two-product of the first two channels of a.
#include "include/exact.glsl"
void main() {
    vec4 v = texelFetch(a, ivec2(gl_FragCoord.xy), 0);
    vec2 s = two_sum(v.x, v.y);
    vec2 p = two_product(v.x, v.y);
    out0 = vec4(s, p);
}
