// B as dense/uniform.frag reads it: row g has columns g, g + groups, ..., g + 7 groups, four elements of each after the
// other. What is past an edge is not used.
vec4 kernel(ivec2 p) { return b_clamped(ivec2(p.y + (p.x & 7) * groups, p.x >> 3) + begin); }
