// Conjugate gradients in pairs: what moves along the direction, all as it was once the flag is set.
// RESIDUAL: r' = r - alpha q;  ADDS: y' = y + (x_scale alpha) d, and, BOTH, the same for the time before, when alpha and d
// were others.
#include "include/pairs.glsl"

#if !ADDS
void kernel(ivec2 p, out vec4 r_high, out vec4 next_r_low) {
#elif RESIDUAL
void kernel(ivec2 p, out vec4 r_high, out vec4 next_r_low, out vec4 y_high, out vec4 next_y_low) {
#else
void kernel(ivec2 p, out vec4 y_high, out vec4 next_y_low) {
#endif
    vec4 c = coefficients_at(ivec2(0));
#if RESIDUAL
    Pair4 r = Pair4(r_here(), r_low_here());
    if (c.z == 0.0) r = add_times4(r, -c.xy, two_sum4(q_here(), q_low_here()));
    r_high = r.high;
    next_r_low = r.low;
#endif
#if ADDS
    Pair4 y = Pair4(y_here(), y_low_here());
#if BOTH
    vec4 then = then_at(ivec2(0));
    if (then.z == 0.0) y = add_times4(y, scaled4(then, x_scale).xy, Pair4(before_here(), before_low_here()));
#endif
    if (c.z == 0.0) y = add_times4(y, scaled4(c, x_scale).xy, Pair4(d_here(), d_low_here()));
    y_high = y.high;
    next_y_low = y.low;
#endif
}
