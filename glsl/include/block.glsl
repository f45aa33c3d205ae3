// Blocks of the dense operands of products, in 4x1 columns [Moravanszky03] 2.1. A_TRANSPOSED and B_TRANSPOSED say which
// operands are read as their transposes. Past an edge in the inner dimension one of the two factors is a padding lane,
// which is zero, whatever the other one is clamped to.
#ifndef TEXLA_INCLUDE_BLOCK
#define TEXLA_INCLUDE_BLOCK

// Four columns of four rows.
struct Block { vec4 c0; vec4 c1; vec4 c2; vec4 c3; };

// op(A)[4 t .. 4 t + 3, 4 k .. 4 k + 3]
Block block_of_a(int t, int k) {
#if A_TRANSPOSED
    vec4 r0 = a_clamped(ivec2(4 * t, k));
    vec4 r1 = a_clamped(ivec2(4 * t + 1, k));
    vec4 r2 = a_clamped(ivec2(4 * t + 2, k));
    vec4 r3 = a_clamped(ivec2(4 * t + 3, k));
    return Block(vec4(r0.x, r1.x, r2.x, r3.x), vec4(r0.y, r1.y, r2.y, r3.y),
                 vec4(r0.z, r1.z, r2.z, r3.z), vec4(r0.w, r1.w, r2.w, r3.w));
#else
    return Block(a_clamped(ivec2(4 * k, t)), a_clamped(ivec2(4 * k + 1, t)),
                 a_clamped(ivec2(4 * k + 2, t)), a_clamped(ivec2(4 * k + 3, t)));
#endif
}

// s += m b: the paper's MOP, 16 multiply-adds.
#define MULTIPLY_ADD(s, m, b) s += m.c0 * b.x; s += m.c1 * b.y; s += m.c2 * b.z; s += m.c3 * b.w;
#endif
