// Light on the square, 1 where it meets the middle unhindered: counted photons over those expected, in the smallest square
// window around a texel that holds `wanted` of them, or in that of half width 8. Where the last ring of texels
// would bring too many, a part of it is taken.
vec4 kernel(ivec2 p) {
    int t = texel_index(p);
    ivec2 q = ivec2(t % side, t / side);
    vec3 sum = map_texel(t).rgb;
    float area = 1.0;
    for (int r = 1; r <= 8; ++r) {
        float had = sum.r + sum.g + sum.b;
        if (had >= wanted) break;
        vec3 ring = vec3(0.0);
        float texels = 0.0;
        for (int k = -r; k < r; ++k) {
            for (int s = 0; s < 4; ++s) {
                ivec2 d = s == 0 ? ivec2(k, -r) : s == 1 ? ivec2(r, k) : s == 2 ? ivec2(-k, r) : ivec2(-r, -k);
                ivec2 n = q + d;
                if (n.x >= 0 && n.y >= 0 && n.x < side && n.y < side) {
                    ring += map_texel(n.y * side + n.x).rgb;
                    texels += 1.0;
                }
            }
        }
        float more = ring.r + ring.g + ring.b;
        float part = had + more > wanted ? (wanted - had) / more : 1.0;
        sum += part * ring;
        area += part * texels;
    }
    return vec4(sum / (expected * area), 1.0);
}
