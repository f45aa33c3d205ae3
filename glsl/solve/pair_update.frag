// The updates of conjugate gradients in pairs, all as they were once the flag is set:
//   r' = r - alpha q,  d' = M r' + beta d,  y' = y + (x_scale alpha) d.
// PART 0: r and d, 1: y, 2: all of them.
#include "include/pairs.glsl"

Pair4 preconditioned(Pair4 r) {
#if DIAGONAL
    return times_float4(r, m_here());
#else
    return r;
#endif
}

#if PART == 0
void kernel(ivec2 p, out vec4 r_high, out vec4 next_r_low, out vec4 d_high, out vec4 next_d_low) {
#elif PART == 1
void kernel(ivec2 p, out vec4 y_high, out vec4 next_y_low) {
#else
void kernel(ivec2 p, out vec4 r_high, out vec4 next_r_low, out vec4 d_high, out vec4 next_d_low, out vec4 y_high,
            out vec4 next_y_low) {
#endif
    vec4 c = coefficients_at(ivec2(0));
    Pair4 d = Pair4(d_here(), d_low_here());
#if PART != 1
    Pair4 r = Pair4(r_here(), r_low_here());
    Pair4 next_d = d;
    if (c.z == 0.0) {
        r = add_times4(r, -c.xy, two_sum4(q_here(), q_low_here()));
        next_d = add_times4(preconditioned(r), state_at(ivec2(0)).zw, d);
    }
    r_high = r.high;
    next_r_low = r.low;
    d_high = next_d.high;
    next_d_low = next_d.low;
#endif
#if PART != 0
    Pair4 y = Pair4(y_here(), y_low_here());
    if (c.z == 0.0) y = add_times4(y, c.xy * x_scale, d);
    y_high = y.high;
    next_y_low = y.low;
#endif
}
