// The right-hand side of a step of the wave equation, from y = y_n and v = y_n - y_(n-1):
//   g = -alpha A y - 2 s v + scale f   [Krueger05] 44.4
// EXPLICIT: (1 + s) d = g is solved by a division, and the step made at once: v' = v + d, y' = y + v'.
// LOSSES, FORCED: whether there are s and f. x is y, or another average of the levels.
#include "include/product.glsl"

vec4 right(ivec2 p) {
    begin(p);
    advance(p);
    vec4 g = product(p);
#if LOSSES
    g += twice_here() * v_here();
#endif
#if FORCED
    g += scale * force_here();
#endif
    return g;
}

#if EXPLICIT
void kernel(ivec2 p, out vec4 next_y, out vec4 next_v) {
    vec4 d = right(p);
#if LOSSES
    d *= divided_here();
#endif
    next_v = v_here() + d;
    next_y = x_own + next_v;
}
#else
vec4 kernel(ivec2 p) { return right(p); }
#endif
