// y = combine(alpha sum over the nonzeros of a row of values x[columns], z)
#include "include/gather.glsl"

vec4 kernel(ivec2 p) {
    vec4 sum = gathered(texel_index(p));
    return COMBINE((sum * factors.y) * factors.x);
}
