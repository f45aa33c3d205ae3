// Light on the square, 1 where it meets the middle unhindered: counted photons over those expected, in the smallest disc
// around a texel that holds `wanted` of them, or in that of radius 8. Where the last ring of texels would bring too many,
// a part of it is taken.
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
        for (int y = max(q.y - r, 0); y <= min(q.y + r, side - 1); ++y) {
            for (int x = max(q.x - r, 0); x <= min(q.x + r, side - 1); ++x) {
                ivec2 d = ivec2(x, y) - q;
                int d2 = d.x * d.x + d.y * d.y;
                if (d2 > r * (r - 1) && d2 <= r * (r + 1)) { // from r - 1/2 to r + 1/2
                    ring += map_texel(y * side + x).rgb;
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
