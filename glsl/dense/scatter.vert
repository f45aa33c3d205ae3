// Four elements of a column at once from a sparse matrix: one vertex for each texel that holds a nonzero, placed where
// that texel lies in 4x1 columns [Moravanszky03] 2.1, [Krueger05] 44.2.3. No two meet, so nothing is blended.
void point(int i, out ivec2 texel, out vec4 value) {
    texel = ivec2(column, quad);
    value = coefficients;
}
