// v[y width + x] = in(x, y): a grid with one element a texel as a folded vector [Krueger05] 44.3.4.
float element(int i) {
    int y = i / width;
    return i < count ? x_at(ivec2(i - y * width, y)).x : 0.0;
}

vec4 kernel(ivec2 p) {
    int i = 4 * texel_index(p);
    return vec4(element(i), element(i + 1), element(i + 2), element(i + 3));
}
