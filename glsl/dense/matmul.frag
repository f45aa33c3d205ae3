// C = op(A) op(B), or the share in it of a range of the inner dimension [Moravanszky03] 3.3 and 3.4. A fragment computes
// four rows of TARGETS columns; the columns of target i begin at i slab, so that neighbouring fragments fetch
// neighbouring texels of B. A range of four is one of the paper's MOPs: a 4x4 block of A by four elements of B.
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

#define MULTIPLY_ADD(s, j) { \
    vec4 b = quad_of_b(k + begin.y, j); \
    s += a.c0 * b.x; \
    s += a.c1 * b.y; \
    s += a.c2 * b.z; \
    s += a.c3 * b.w; \
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
    for (int k = 0; k < QUADS; ++k) {
        Block a = block_of_a(t, k + begin.x);
        MULTIPLY_ADD(s0, j)
#if TARGETS > 1
        MULTIPLY_ADD(s1, j + slab)
        MULTIPLY_ADD(s2, j + 2 * slab)
        MULTIPLY_ADD(s3, j + 3 * slab)
#endif
#if TARGETS > 4
        MULTIPLY_ADD(s4, j + 4 * slab)
        MULTIPLY_ADD(s5, j + 5 * slab)
        MULTIPLY_ADD(s6, j + 6 * slab)
        MULTIPLY_ADD(s7, j + 7 * slab)
#endif
    }
#if TARGETS == 1
    return s0;
#endif
}
