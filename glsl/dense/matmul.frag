// C = op(A) op(B), or the share in it of a range of the inner dimension [Moravanszky03] 3.3 and 3.4. A fragment computes
// four rows of one column, or with 4 targets of four columns, or with 8 targets eight rows of them. The columns and rows
// of the further targets lie `slabs` away, so that neighbouring fragments fetch neighbouring texels.
#include "include/block.glsl"

// op(B)[4 k .. 4 k + 3, j]
vec4 quad_of_b(int k, int j) {
#if B_TRANSPOSED
    int lane = j & 3;
    int first = 4 * k;
    // No padding lanes lie in this direction: what is past the end is made zero here.
    return vec4(b_clamped(ivec2(first, j >> 2))[lane],
                first + 1 < inner_end ? b_clamped(ivec2(first + 1, j >> 2))[lane] : 0.0,
                first + 2 < inner_end ? b_clamped(ivec2(first + 2, j >> 2))[lane] : 0.0,
                first + 3 < inner_end ? b_clamped(ivec2(first + 3, j >> 2))[lane] : 0.0);
#else
    return b_clamped(ivec2(j, k));
#endif
}

#if TARGETS == 8
void kernel(ivec2 p, out vec4 s0, out vec4 s1, out vec4 s2, out vec4 s3, out vec4 s4, out vec4 s5, out vec4 s6,
            out vec4 s7) {
    s4 = START(carried4_here());
    s5 = START(carried5_here());
    s6 = START(carried6_here());
    s7 = START(carried7_here());
#elif TARGETS == 4
void kernel(ivec2 p, out vec4 s0, out vec4 s1, out vec4 s2, out vec4 s3) {
#else
vec4 kernel(ivec2 p) {
    vec4 s0;
#endif
    s0 = START(carried0_here());
#if TARGETS > 1
    s1 = START(carried1_here());
    s2 = START(carried2_here());
    s3 = START(carried3_here());
#endif
    int t = p.y + origin.y;
    int j = p.x + origin.x;
    float row = row_of_a(t);
#if TARGETS > 4
    float other_row = row_of_a(t + slabs.y);
#endif
    for (int k = 0; k < QUADS; ++k) {
        float quad = quad_of_a(k + begin.x);
        Block m = BLOCK_OF_A(row, quad);
        vec4 b0 = quad_of_b(k + begin.y, j);
        MULTIPLY_ADD(s0, m, b0)
#if TARGETS > 1
        vec4 b1 = quad_of_b(k + begin.y, j + slabs.x);
        MULTIPLY_ADD(s1, m, b1)
        vec4 b2 = quad_of_b(k + begin.y, j + 2 * slabs.x);
        MULTIPLY_ADD(s2, m, b2)
        vec4 b3 = quad_of_b(k + begin.y, j + 3 * slabs.x);
        MULTIPLY_ADD(s3, m, b3)
#endif
#if TARGETS > 4
        m = BLOCK_OF_A(other_row, quad);
        MULTIPLY_ADD(s4, m, b0)
        MULTIPLY_ADD(s5, m, b1)
        MULTIPLY_ADD(s6, m, b2)
        MULTIPLY_ADD(s7, m, b3)
#endif
    }
#if TARGETS == 1
    return s0;
#endif
}
