// x where its problem's choice is 0, else y.
#include "include/owner.glsl"

vec4 kernel(ivec2 p) {
    return choice_texel(owner(p).x).x == 0.0 ? x_here() : y_here();
}
