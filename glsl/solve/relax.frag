// x' = x + factor (w * r), element by element; factor is a power of two. INLINED: r = b - A x is computed here.
#ifdef INLINED
#include "include/product.glsl"
#define R (b_here() - product_at(p))
// As the product reads it, so that it is fetched once.
#define X x_at(p)
#else
#define R r_here()
#define X x_here()
#endif

vec4 kernel(ivec2 p) {
    return X + (w_here() * R) * factor;
}
