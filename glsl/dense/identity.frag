// out(i, j) = 1 where i + shift = j, else 0, in 4x1 columns [Moravanszky03] 2.1.
vec4 kernel(ivec2 p) {
    ivec4 row = ivec4(4 * p.y + shift) + ivec4(0, 1, 2, 3);
    return vec4(equal(row, ivec4(p.x)));
}
