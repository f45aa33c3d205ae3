// What a device profile times to learn what a fetch takes: two inputs under the fragment (OWN), or four fetches a round in one of
// the patterns of src/profile/workload.rs, each with the arithmetic that goes with it where it occurs. Textures have sides
// that are powers of two. Rounds differ in their texels.
#include "include/prelude.glsl"

#if defined(LOOPED)
// As windows of sizes that a program does not know (include/window.glsl).
vec4 looped(ivec2 from) {
    ivec2 to = min(from + window, last + 1);
    vec4 total = vec4(0.0);
    for (int j = from.y; j < to.y; ++j) {
        for (int i = from.x; i < to.x; ++i) {
            total += x0_at(ivec2(i, j));
        }
    }
    return total;
}
#endif

vec4 kernel(ivec2 p) {
    vec4 total = vec4(p.xyxy);
#if defined(OWN)
    total += x0_here() + x1_here();
#else
    int t = texel_index(p);
    for (int k = 0; k < rounds; ++k) {
#if defined(INDEXED) || defined(SCATTERED)
        // As rows that are gathered (include/gather.glsl).
        int slot = (t + 16 * k) & (slots - 1);
        vec4 a = x1_texel(slot);
        uvec4 c = columns_texel(slot);
#if defined(INDEXED)
        c += uvec4(4 * (t + 64 * k)) + uvec4(0u, 1u, 2u, 3u);
#else
        c += (uvec4(slot + 65536 * k) + uvec4(0u, 1000u, 2000u, 3000u)) * 2654435761u >> 8u;
#endif
        c &= uvec4(elements);
        total += a * where_nonzero(a, vec4(x0_element(c.x), x0_element(c.y), x0_element(c.z), x0_element(c.w)));
#elif defined(SHIFTED)
        // As diagonals (src/ops/banded/plan.rs).
        for (int j = 0; j < 4; ++j) {
            int s = t + shifts[j] + 64 * k;
            vec4 v = x0_shifted(s);
            total += uint(s) < uint(slots) ? v : vec4(0.0);
        }
#elif defined(LOOPED)
        total += looped((2 * p + 128 * k) & last);
#else
#if defined(ADJACENT)
        ivec2 q = (2 * p + 128 * k) & last;
#else
        ivec2 q = (2 * p.yx + 128 * k) & last;
#endif
        for (int j = 0; j < 2; ++j) {
            for (int i = 0; i < 2; ++i) {
                total += x0_at(q + ivec2(i, j));
            }
        }
#endif
    }
#endif
    return total;
}
