// x' = x + factor (w * r), element by element. INLINED: r = b - A x is computed here. SCALED: x stands for start times
// itself, as the product knows. Without WEIGHTED w is 1.
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
#if WEIGHTED
    vec4 change = (w_here() * R) * factor;
#else
    vec4 change = R * factor;
#endif
#if SCALED
    return X * start + change;
#else
    return X + change;
#endif
}
