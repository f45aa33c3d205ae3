// x' = x + factor (w * r), element by element; factor is a power of two.
vec4 kernel(ivec2 p) {
    return x_here() + (w_here() * r_here()) * factor;
}
