// y' = y + alpha x_scale d, r' = r - alpha q with alpha on the device; both as they are once the iterates are frozen.
void kernel(ivec2 p, out vec4 next_y, out vec4 next_r) {
    vec4 c = coefficients_at(ivec2(0));
    next_y = y_here();
    next_r = r_here();
    if (c.z == 0.0) {
        next_y += (c.x * x_scale) * d_here();
        next_r -= c.x * q_here();
    }
}
