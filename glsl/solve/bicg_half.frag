// The residual of BiCGStab after the first half of an iteration: s = r - alpha v.
vec4 kernel(ivec2 p) {
    return r_here() - coefficients_at(ivec2(0)).x * v_here();
}
