// max(x + y, 0) for x as a pair of floats, as a pair; zero where y is at its bound, -x rounded.
#include "include/exact.glsl"

void kernel(ivec2 p, out vec4 high, out vec4 low) {
    Pair4 s = two_sum4(x_here(), y_here());
    bvec4 at_bound = equal(s.high, vec4(0.0));
    Pair4 t = two_sum4(s.low, x_low_here());
    s = fast_two_sum4(s.high, held4(t.high + t.low));
    // The sign of a pair is that of its high part.
    vec4 kept = vec4(greaterThan(s.high, vec4(0.0))) * (vec4(1.0) - vec4(at_bound));
    high = s.high * kept;
    low = s.low * kept;
}
