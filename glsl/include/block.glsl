// Blocks of the dense operands of products, in 4x1 columns [Moravanszky03] 2.1. A_TRANSPOSED and B_TRANSPOSED say which
// operands are read as their transposes. Past an edge in the inner dimension one of the two factors is a padding lane,
// which is zero, whatever the other one is clamped to.
#ifndef TEXLA_INCLUDE_BLOCK
#define TEXLA_INCLUDE_BLOCK

// Four columns of four rows.
struct Block { vec4 c0; vec4 c1; vec4 c2; vec4 c3; };

// Where the block op(A)[4 t .. 4 t + 3, 4 k .. 4 k + 3] begins, in two parts, so that loops over k compute one of them
// once: these two and the block from them.
#if A_TRANSPOSED
float row_of_a(int t) { return a_place(vec2(4 * t, 0)).x; }
float quad_of_a(int k) { return a_place(vec2(0, k)).y; }
#define BLOCK_OF_A(row, quad) block_at(vec2(row, quad))
#else
float row_of_a(int t) { return a_place(vec2(0, t)).y; }
float quad_of_a(int k) { return a_place(vec2(4 * k, 0)).x; }
#define BLOCK_OF_A(row, quad) block_at(vec2(quad, row))
#endif

// Either way its texels lie side by side.
Block block_at(vec2 first) {
    float right = a_step().x;
    vec4 v0 = a_placed(first);
    vec4 v1 = a_placed(vec2(first.x + right, first.y));
    vec4 v2 = a_placed(vec2(first.x + 2.0 * right, first.y));
    vec4 v3 = a_placed(vec2(first.x + 3.0 * right, first.y));
#if A_TRANSPOSED
    return Block(vec4(v0.x, v1.x, v2.x, v3.x), vec4(v0.y, v1.y, v2.y, v3.y),
                 vec4(v0.z, v1.z, v2.z, v3.z), vec4(v0.w, v1.w, v2.w, v3.w));
#else
    return Block(v0, v1, v2, v3);
#endif
}

// s += m b: the paper's MOP, 16 multiply-adds.
#define MULTIPLY_ADD(s, m, b) s += m.c0 * b.x; s += m.c1 * b.y; s += m.c2 * b.z; s += m.c3 * b.w;
#endif
