// x' = x + factor (w * r), element by element; factor is a power of two. INLINED: r = b - A x is computed here.
#ifdef INLINED
#include "include/product.glsl"
#define R (b_here() - product(p))
#define X x_own
#else
#define R r_here()
#define X x_here()
#endif

vec4 kernel(ivec2 p) {
#ifdef INLINED
    begin(p);
    advance(p);
#endif
    return X + (w_here() * R) * factor;
}
