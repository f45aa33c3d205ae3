// out = the first two channels of the horizontal neighbour's texel of a, the last two of the vertical one's.
#include "include/exchange.glsl"
void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    vec4 v = texelFetch(a, p, 0);
    out0 = vec4(across(v, (p.x & 1) == 1).xy, along(v, (p.y & 1) == 1).zw);
}
