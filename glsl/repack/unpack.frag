// out(x, y) = v[first + y width + x]: a folded vector as a grid with one element a texel [Krueger05] 44.3.4.
vec4 kernel(ivec2 p) {
    return vec4(x_element(uint(first + p.y * width + p.x)), 0.0, 0.0, 0.0);
}
