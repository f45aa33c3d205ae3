// Dye as it is, and fine stripes of it in the columns at the left side, every other one amber and blue, with clear air
// between. Rows are as long as a multiple of four, so that the four cells of a texel lie side by side.
float stripe(float y) {
    float k = 9.0 * (y - 0.5 + shift) + 0.5 * float(colour);
    float off = abs(k - floor(k + 0.5));
    float inside = smoothstep(0.46, 0.36, abs(y - 0.5));
    return inside * smoothstep(0.21, 0.09, off);
}

vec4 kernel(ivec2 p) {
    int first = 4 * texel_index(p);
    int y = first / cells.x;
    int x = first - y * cells.x;
    vec4 now = dye_here();
    if (x >= 8 || y >= cells.y) return now;
    return vec4(stripe((float(y) + 0.5) / float(cells.y)));
}
