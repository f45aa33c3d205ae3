// A(i, j) = D_d[i] for the diagonal d with j - i = offset_d, or, of folded diagonals, with j - i + wrap = offset_d
// [Krueger05] 44.2.3; into a tile in 4x1 columns [Moravanszky03] 2.1 whose first element is (4 origin.y, origin.x).
// BANDS is generated: of several diagonals one meets an element at most, so the sum is exact.
vec4 kernel(ivec2 p) {
    int t = p.y + origin.y;
    ivec4 offset = ivec4(p.x + origin.x) - (ivec4(4 * t) + ivec4(0, 1, 2, 3));
    offset += wrap * ivec4(lessThan(offset, ivec4(0)));
    vec4 sum = vec4(0.0);
    BANDS
    return START + (sum * factors.y) * factors.x;
}
