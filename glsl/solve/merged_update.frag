// The vector updates of Listing 44-1 [Krueger05] in one pass, all as they were once the flag is set:
//   r' = r - alpha q,  d' = M r' + beta d,
// ADDS: y' = y + alpha d; or, BOTH, every second time, for the time before too, when alpha and d were others.
// INLINED: x is d, and q = A d is computed here.
#ifdef INLINED
#include "include/product.glsl"
#define d_here() x_own
#define Q product(p)
#else
#define Q q_here()
#endif

#if ADDS
void kernel(ivec2 p, out vec4 next_r, out vec4 next_d, out vec4 next_y) {
#else
void kernel(ivec2 p, out vec4 next_r, out vec4 next_d) {
#endif
    vec4 c = coefficients_at(ivec2(0));
#ifdef INLINED
    begin(p);
    advance(p);
#endif
    vec4 d4 = d_here();
    next_r = r_here();
    next_d = d4;
#if ADDS
    next_y = y_here();
#endif
#if BOTH
    // Zero where it was frozen; then nothing is known of that direction.
    float then = then_at(ivec2(0)).x;
    if (then != 0.0) next_y += (then * x_scale) * before_here();
#endif
    if (c.z == 0.0) {
#if ADDS
        next_y += (c.x * x_scale) * d4;
#endif
        next_r -= c.x * Q;
#if DIAGONAL
        next_d = m_here() * next_r + c.y * d4;
#else
        next_d = next_r + c.y * d4;
#endif
    }
}
