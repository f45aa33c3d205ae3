// d' = M r + beta d of conjugate gradients in pairs, as it was once the flag is set.
#include "include/pairs.glsl"

void kernel(ivec2 p, out vec4 high, out vec4 low) {
    Pair4 d = Pair4(d_here(), d_low_here());
    if (coefficients_at(ivec2(0)).z == 0.0) {
        Pair4 z = Pair4(r_here(), r_low_here());
#if DIAGONAL
        z = times_float4(z, m_here());
#endif
        d = add_times4(z, state_at(ivec2(0)).zw, d);
    }
    high = d.high;
    low = d.low;
}
