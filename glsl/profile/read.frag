// What a device profile times to learn what a fetch takes: OWN inputs under the fragment, or four fetches a round of one
// texture whose sides are powers of two, in one of the patterns of src/profile/workload.rs. Rounds differ in their texels.
vec4 kernel(ivec2 p) {
    vec4 total = vec4(0.0);
#if defined(OWN)
    total += x0_here() + x1_here();
#if OWN == 4
    total += x2_here() + x3_here();
#endif
#else
    uint h = uint(p.y << 12 | p.x) * 2654435761u;
    for (int k = 0; k < rounds; ++k) {
#if defined(SCATTERED)
        for (int j = 0; j < 4; ++j) {
            h = h * 1664525u + 1013904223u;
            total += x0_at(ivec2(h >> 8u, h >> 20u) & last);
        }
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
