// The next vector of a power iteration: D^-1 w / norm.
#include "include/owner.glsl"

vec4 kernel(ivec2 p) {
    return (inverses_here() * w_here()) * spectrum_texel(owner(p).x).y;
}
