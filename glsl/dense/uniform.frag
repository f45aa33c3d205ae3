// Eight columns of C = op(A) B, one in each target, with B in a uniform block: a fragment computes four rows of them. The
// fragments lie in two rows of texels; a is laid out by dense/spread_a.frag, b by dense/group_b.frag.
#define A_TRANSPOSED 0
#include "include/block.glsl"

void kernel(ivec2 p, out vec4 s0, out vec4 s1, out vec4 s2, out vec4 s3, out vec4 s4, out vec4 s5, out vec4 s6,
            out vec4 s7) {
    s0 = START(carried0_here());
    s1 = START(carried1_here());
    s2 = START(carried2_here());
    s3 = START(carried3_here());
    s4 = START(carried4_here());
    s5 = START(carried5_here());
    s6 = START(carried6_here());
    s7 = START(carried7_here());
    int y = p.y & 1;
    for (int k = 0; k < quads; ++k) {
        ivec2 q = ivec2(p.x, y + 8 * k);
        Block m = Block(a_fetched(q), a_fetched(ivec2(q.x, q.y + 2)), a_fetched(ivec2(q.x, q.y + 4)),
                        a_fetched(ivec2(q.x, q.y + 6)));
        int first = 8 * k;
        MULTIPLY_ADD(s0, m, b[first])
        MULTIPLY_ADD(s1, m, b[first + 1])
        MULTIPLY_ADD(s2, m, b[first + 2])
        MULTIPLY_ADD(s3, m, b[first + 3])
        MULTIPLY_ADD(s4, m, b[first + 4])
        MULTIPLY_ADD(s5, m, b[first + 5])
        MULTIPLY_ADD(s6, m, b[first + 6])
        MULTIPLY_ADD(s7, m, b[first + 7])
    }
}
