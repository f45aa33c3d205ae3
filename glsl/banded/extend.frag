// y = (x, x): what circular shifts of x read without wrapping around [Krueger05] 44.2.3, Figure 44-3.
float element(int k) {
    if (k >= 2 * length_) return 0.0;
    return x_element(uint(k < length_ ? k : k - length_));
}

vec4 kernel(ivec2 p) {
    int k = 4 * texel_index(p);
    return vec4(element(k), element(k + 1), element(k + 2), element(k + 3));
}
