// C[.., j] = panel[.., j - origin]: a panel of a blocked product to its place. FOLDED panels have the texels of a column
// in two rows.
vec4 kernel(ivec2 p) {
    ivec2 q = p - origin;
#if FOLDED
    return panel_at(ivec2(q.y % width, 2 * q.x + q.y / width));
#else
    return panel_at(q);
#endif
}
