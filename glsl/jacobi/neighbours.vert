// Texture coordinates of the eight neighbours of the unknown at p, linear in p [Goeddeke05].
#include "include/neighbours.glsl"

void vertex(vec2 p) {
    vec2 scale = x_step();
    vec2 up = vec2(0.0, scale.y), own = p * scale;
    vec2 left = before(p) * scale, right = after(p) * scale;
    middles = vec4(own - up, own + up);
    sides = vec4(left, right);
    lows = vec4(left - up, right - up);
    highs = vec4(left + up, right + up);
}
