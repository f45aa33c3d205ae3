// C = op(A) B with 4 or 8 targets, the inner dimension split over the four fragments of a quad. Together they write
// 2x2 texels of each target: 8 columns of 8 rows, or of 16. Each computes all of these over a quarter of the inner
// dimension, which takes half the fetches of computing its own part over all of it, and in the end the quarters are
// added up across the quad. The columns and rows of the further targets lie `slabs` away.
#include "include/block.glsl"
#include "include/exchange.glsl"

#define ROW(row, s0, s1, s2, s3, s4, s5, s6, s7) { \
    Block m = BLOCK_OF_A(row, quad); \
    MULTIPLY_ADD(s0, m, b0) \
    MULTIPLY_ADD(s1, m, b1) \
    MULTIPLY_ADD(s2, m, b2) \
    MULTIPLY_ADD(s3, m, b3) \
    MULTIPLY_ADD(s4, m, b4) \
    MULTIPLY_ADD(s5, m, b5) \
    MULTIPLY_ADD(s6, m, b6) \
    MULTIPLY_ADD(s7, m, b7) \
}

// This fragment's texel out of the quad's four: what this one has of it, and what the other three have.
vec4 gathered(vec4 s00, vec4 s01, vec4 s10, vec4 s11, bool right, bool upper) {
    vec4 low = (right ? s01 : s00) + across(right ? s00 : s01, right);
    vec4 high = (right ? s11 : s10) + across(right ? s10 : s11, right);
    return (upper ? high : low) + along(upper ? low : high, upper);
}

#if TARGETS == 8
void kernel(ivec2 p, out vec4 o0, out vec4 o1, out vec4 o2, out vec4 o3, out vec4 o4, out vec4 o5, out vec4 o6,
            out vec4 o7) {
#else
void kernel(ivec2 p, out vec4 o0, out vec4 o1, out vec4 o2, out vec4 o3) {
#endif
    ivec2 lane = p & 1;
    int t = p.y - lane.y + origin.y;
    int j = p.x - lane.x + origin.x;
    vec4 s00 = vec4(0.0), s01 = vec4(0.0), s02 = vec4(0.0), s03 = vec4(0.0),
         s04 = vec4(0.0), s05 = vec4(0.0), s06 = vec4(0.0), s07 = vec4(0.0);
    vec4 s10 = vec4(0.0), s11 = vec4(0.0), s12 = vec4(0.0), s13 = vec4(0.0),
         s14 = vec4(0.0), s15 = vec4(0.0), s16 = vec4(0.0), s17 = vec4(0.0);
#if TARGETS == 8
    vec4 s20 = vec4(0.0), s21 = vec4(0.0), s22 = vec4(0.0), s23 = vec4(0.0),
         s24 = vec4(0.0), s25 = vec4(0.0), s26 = vec4(0.0), s27 = vec4(0.0);
    vec4 s30 = vec4(0.0), s31 = vec4(0.0), s32 = vec4(0.0), s33 = vec4(0.0),
         s34 = vec4(0.0), s35 = vec4(0.0), s36 = vec4(0.0), s37 = vec4(0.0);
#endif
    // Texture coordinates that do not change along the inner dimension.
    float right_of = b_step().x;
    float column0 = b_place(vec2(j, 0)).x;
    float column1 = b_place(vec2(j + slabs.x, 0)).x;
    float column2 = b_place(vec2(j + 2 * slabs.x, 0)).x;
    float column3 = b_place(vec2(j + 3 * slabs.x, 0)).x;
    float row0 = row_of_a(t);
    float row1 = row_of_a(t + 1);
#if TARGETS == 8
    float row2 = row_of_a(t + slabs.y);
    float row3 = row_of_a(t + slabs.y + 1);
#endif
    for (int k = lane.x + 2 * lane.y; k < quads; k += 4) {
        float quad = quad_of_a(k + begin.x);
        float q = b_place(vec2(0, k + begin.y)).y;
        vec4 b0 = b_placed(vec2(column0, q));
        vec4 b1 = b_placed(vec2(column0 + right_of, q));
        vec4 b2 = b_placed(vec2(column1, q));
        vec4 b3 = b_placed(vec2(column1 + right_of, q));
        vec4 b4 = b_placed(vec2(column2, q));
        vec4 b5 = b_placed(vec2(column2 + right_of, q));
        vec4 b6 = b_placed(vec2(column3, q));
        vec4 b7 = b_placed(vec2(column3 + right_of, q));
        ROW(row0, s00, s01, s02, s03, s04, s05, s06, s07)
        ROW(row1, s10, s11, s12, s13, s14, s15, s16, s17)
#if TARGETS == 8
        ROW(row2, s20, s21, s22, s23, s24, s25, s26, s27)
        ROW(row3, s30, s31, s32, s33, s34, s35, s36, s37)
#endif
    }
    bool right = lane.x == 1;
    bool upper = lane.y == 1;
    o0 = START(carried0_here()) + gathered(s00, s01, s10, s11, right, upper);
    o1 = START(carried1_here()) + gathered(s02, s03, s12, s13, right, upper);
    o2 = START(carried2_here()) + gathered(s04, s05, s14, s15, right, upper);
    o3 = START(carried3_here()) + gathered(s06, s07, s16, s17, right, upper);
#if TARGETS == 8
    o4 = START(carried4_here()) + gathered(s20, s21, s30, s31, right, upper);
    o5 = START(carried5_here()) + gathered(s22, s23, s32, s33, right, upper);
    o6 = START(carried6_here()) + gathered(s24, s25, s34, s35, right, upper);
    o7 = START(carried7_here()) + gathered(s26, s27, s36, s37, right, upper);
#endif
}
