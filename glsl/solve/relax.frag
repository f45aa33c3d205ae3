// x' = x + factor (w * r), element by element; factor is a power of two. INLINED: r = b - A x is computed here.
#ifdef INLINED
#include "include/product.glsl"
#define R (b_here() - product_at(p))
#else
#define R r_here()
#endif

vec4 kernel(ivec2 p) {
    return x_here() + (w_here() * R) * factor;
}
