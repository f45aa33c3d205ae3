// A sweep of weighted Jacobi: y = x + omega D^-1 (b - A x); from zero, where x does not exist yet: y = omega D^-1 b. TWICE:
// that and the next one, one application of A to what the first would have written; x is b then. omega: the weight, and
// what the next one is of it.
#include "include/operator.glsl"

#if TWICE
// What the first sweep multiplies b by.
vec4 first(Place c) { return omega.x / diagonal(c); }

// The same at cells one behind and one ahead along x. Where rows are whole texels, a texel's first and last cell have the
// diagonals of what lies beyond them, if anything does.
#if ALIGNED
vec4 first_low_x(vec4 f, Place c) { return f.xxyz; }
vec4 first_high_x(vec4 f, Place c) { return f.yzww; }
#else
vec4 first_low_x(vec4 f, Place c) { return first(Place(c.t, c.x - 1, c.y, c.z)); }
vec4 first_high_x(vec4 f, Place c) { return first(Place(c.t, c.x + 1, c.y, c.z)); }
#endif
#endif

vec4 kernel(ivec2 p) {
    Place c = place(texel_index(p));
#if TWICE
    vec4 b0 = b_here();
    vec4 f = first(c);
    Near n = near(b0, c);
    // A place beyond a side has some diagonal, and the value zero. Along a periodic axis diagonals do not change.
#if AXIS_X
    n.low_x.value *= first_low_x(f, c);
    n.high_x.value *= first_high_x(f, c);
#endif
#if AXIS_Y
    n.low_y.value *= first(Place(c.t, c.x, c.y - 1, c.z));
    n.high_y.value *= first(Place(c.t, c.x, c.y + 1, c.z));
#endif
#if AXIS_Z
    n.low_z.value *= first(Place(c.t, c.x, c.y, c.z - 1));
    n.high_z.value *= first(Place(c.t, c.x, c.y, c.z + 1));
#endif
    vec4 x1 = f * b0;
    return x1 + omega.y * f * (b0 - applied_near(x1, n, c));
#elif FROM_ZERO
    return omega.x * b_here() / diagonal(c);
#else
    vec4 x0 = x_here();
    return x0 + omega.x * (b_here() - applied(x0, c)) / diagonal(c);
#endif
}
