// A folded vector v of `side` times `side` elements as the rows of a grid, four elements a texel: row ROWS y + k in row y
// of target k; or, WEIGHTED, all of ROWS rows in one row of one target, multiplied by the weight there, four texels of one
// row and then of the next. Zero past the grid.
vec4 group(int x, int y) {
    ivec4 column = ivec4(4 * x) + ivec4(0, 1, 2, 3);
    int i = y * side + column.x;
    if (y >= side || column.x >= side) return vec4(0.0);
#if ALIGNED
    return v_texel(i >> 2);
#else
    // Never past the vector's last element, which texels alone may be.
    ivec4 at = min(ivec4(i) + ivec4(0, 1, 2, 3), ivec4(side * side - 1));
    vec4 four = vec4(v_element(uint(at.x)), v_element(uint(at.y)), v_element(uint(at.z)), v_element(uint(at.w)));
    return mix(four, vec4(0.0), greaterThanEqual(column, ivec4(side)));
#endif
}

#if WEIGHTED
vec4 kernel(ivec2 p) {
    int four = p.x / (4 * ROWS), rest = p.x - 4 * ROWS * four;
    return weight_here() * group(4 * four + (rest & 3), ROWS * p.y + rest / 4);
}
#elif ROWS == 1
vec4 kernel(ivec2 p) { return group(p.x, p.y); }
#elif ROWS == 2
void kernel(ivec2 p, out vec4 o0, out vec4 o1) {
    o0 = group(p.x, 2 * p.y);
    o1 = group(p.x, 2 * p.y + 1);
}
#elif ROWS == 4
void kernel(ivec2 p, out vec4 o0, out vec4 o1, out vec4 o2, out vec4 o3) {
    o0 = group(p.x, 4 * p.y);
    o1 = group(p.x, 4 * p.y + 1);
    o2 = group(p.x, 4 * p.y + 2);
    o3 = group(p.x, 4 * p.y + 3);
}
#else
void kernel(
    ivec2 p, out vec4 o0, out vec4 o1, out vec4 o2, out vec4 o3, out vec4 o4, out vec4 o5, out vec4 o6, out vec4 o7
) {
    o0 = group(p.x, 8 * p.y);
    o1 = group(p.x, 8 * p.y + 1);
    o2 = group(p.x, 8 * p.y + 2);
    o3 = group(p.x, 8 * p.y + 3);
    o4 = group(p.x, 8 * p.y + 4);
    o5 = group(p.x, 8 * p.y + 5);
    o6 = group(p.x, 8 * p.y + 6);
    o7 = group(p.x, 8 * p.y + 7);
}
#endif
