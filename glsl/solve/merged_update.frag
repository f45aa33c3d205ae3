// The vector updates of Listing 44-1 [Krueger05] in one pass over three targets:
//   y' = y + alpha d,  r' = r - alpha q,  d' = M r' + beta d;  all as they were once the flag is set.
// INLINED: x is d, and q = A d is computed here.
#ifdef INLINED
#include "include/product.glsl"
// As the product reads it, so that it is fetched once.
#define d_here() x_at(p)
#define Q product_at(p)
#else
#define Q q_here()
#endif

void kernel(ivec2 p, out vec4 next_y, out vec4 next_r, out vec4 next_d) {
    vec4 c = coefficients_at(ivec2(0));
    vec4 d4 = d_here();
    next_y = y_here();
    next_r = r_here();
    next_d = d4;
    if (c.z == 0.0) {
        next_y += (c.x * x_scale) * d4;
        next_r -= c.x * Q;
#if DIAGONAL
        next_d = m_here() * next_r + c.y * d4;
#else
        next_d = next_r + c.y * d4;
#endif
    }
}
