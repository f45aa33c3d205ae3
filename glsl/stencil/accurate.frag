// out = alpha A x + beta z in double-float (exact two-sum and two-product), rounded once; A as in product.frag, alpha and beta
// powers of two. PAIRED: x is x + x_low.
#include "include/exact_operator.glsl"

void kernel(ivec2 p, OUT_SUM) {
#ifdef PAIRED
    Pair4 x0 = Pair4(x_here(), x_low_here());
#else
    vec4 x0 = x_here();
#endif
    Sum4 s = exact_applied(STARTED, x0, place(texel_index(p)));
#if POWERS
    s = settled4(s);
#endif
    WRITE_SUM(s);
}
