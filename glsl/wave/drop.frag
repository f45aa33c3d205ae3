// out = y + height (1 - q)^3 (1 - balance q) for q < 1, with q = (distance from the centre / radius)^2; lengths in cells.
// Twice continuously differentiable. With balance 5 the integral is zero: what the middle gains the rim loses.
float bump(int i) {
    vec2 apart = vec2(ivec2(i % nx, i / nx)) + 0.5 - centre;
    // The nearest of the images that a periodic axis has.
    apart -= period * floor(apart * frequency + 0.5);
    // Past the radius q is 1, however far: a product of infinity and zero would be no number.
    float q = min((apart.x * apart.x + apart.y * apart.y) * inverse_square, 1.0);
    float rest = 1.0 - q;
    return rest * rest * rest * (1.0 - balance * q);
}

vec4 kernel(ivec2 p) {
    int i = 4 * texel_index(p);
    return y_here() + height * vec4(bump(i), bump(i + 1), bump(i + 2), bump(i + 3));
}
