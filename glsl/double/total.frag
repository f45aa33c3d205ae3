// The rest of a reduction of pairs, as a pair: the first of the two sums of each texel. NORM: its root, times the power of two
// by which squares were kept in range.
#include "include/pairs.glsl"
#include "include/prelude.glsl"
#define TOTAL(a, b) add_sums(a, b)
#include "include/total.glsl"

void kernel(ivec2 p, out vec4 high, out vec4 low) {
    vec2 sum = total_of_dots().xy;
#if NORM
    float root = sqrt(sum.x);
    if (root > 0.0) {
        // One step of Newton's.
        vec2 rest = add_pairs(sum, -two_product(root, root));
        sum = fast_two_sum(root, rest.x / (2.0 * root));
    }
    sum *= inverse_scale(inverse_scale(scale_value()));
#endif
    high = vec4(sum.x, 0.0, 0.0, 0.0);
    low = vec4(sum.y, 0.0, 0.0, 0.0);
}
