// Two vectors of BiCGStab(2) less the same multiple of two others.
void kernel(ivec2 p, out vec4 next_a, out vec4 next_b) {
    float factor = coefficients_at(ivec2(0)).x;
    next_a = a_here() - factor * x_here();
    next_b = b_here() - factor * y_here();
}
