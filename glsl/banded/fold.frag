// y_i = combine(x_i + x_(i + n), z): a product with the transpose of n x 2 n brought back to n elements.
float element(int i) {
    return i < length_ ? x_element(uint(i)) + x_element(uint(i + length_)) : 0.0;
}

vec4 kernel(ivec2 p) {
    int i = 4 * texel_index(p);
    return COMBINE(vec4(element(i), element(i + 1), element(i + 2), element(i + 3)));
}
