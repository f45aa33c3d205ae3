// A sweep of weighted Jacobi: y = x + omega D^-1 (b - A x); from zero, where x does not exist yet: y = omega D^-1 b.
#include "include/operator.glsl"

vec4 kernel(ivec2 p) {
    Place c = place(texel_index(p));
#if FROM_ZERO
    return omega * b_here() / diagonal(c);
#else
    vec4 x0 = x_here();
    return x0 + omega * (b_here() - applied(x0, c)) / diagonal(c);
#endif
}
