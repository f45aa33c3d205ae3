// C(i, j) = alpha x_i y_j. Either vector lies along its texels, or is a row of a matrix, one element in each.
vec4 kernel(ivec2 p) {
    int t = p.y + origin.y;
    int j = p.x + origin.x;
#if X_ROW
    vec4 v = vec4(x_clamped(ivec2(4 * t, 0)).x, x_clamped(ivec2(4 * t + 1, 0)).x,
                  x_clamped(ivec2(4 * t + 2, 0)).x, x_clamped(ivec2(4 * t + 3, 0)).x);
#else
    vec4 v = x_texel(t);
#endif
#if Y_ROW
    float w = y_at(ivec2(j, 0)).x;
#else
    float w = y_element(uint(j));
#endif
    return (alpha * v) * w;
}
