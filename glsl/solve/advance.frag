// out = y + (factor alpha) v with alpha on the device; y as it is once the iterates are frozen. BOTH: for the step before
// too, when alpha and v were others.
vec4 kernel(ivec2 p) {
    vec4 c = coefficients_at(ivec2(0));
    vec4 sum = y_here();
#if BOTH
    // Zero where it was frozen; then nothing is known of that direction.
    float then = then_at(ivec2(0)).x;
    if (then != 0.0) sum += (then * factor) * before_here();
#endif
    return c.z != 0.0 ? sum : sum + (c.x * factor) * v_here();
}
