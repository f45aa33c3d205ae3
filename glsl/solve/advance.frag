// out = y + (sign alpha) v with alpha on the device; y as it is once the iterates are frozen.
vec4 kernel(ivec2 p) {
    vec4 c = coefficients_at(ivec2(0));
    return c.z != 0.0 ? y_here() : y_here() + (c.x * factor) * v_here();
}
