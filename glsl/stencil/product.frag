// y = combine(alpha A x, z) for an operator on a grid   [Krueger05] 44.4, equations 44-5 and 44-7
#include "include/operator.glsl"

vec4 kernel(ivec2 p) {
    vec4 sum = applied(x_here(), place(texel_index(p)));
    return COMBINE((sum * factors.y) * factors.x);
}
