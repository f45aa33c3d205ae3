// Dye as it is, and stripes of it in the columns at the left side: every other one has the colour. Rows are as long as a
// multiple of four, so that the four cells of a texel lie side by side.
float stripe(float y) {
    float wave = 0.5 + 0.5 * cos(6.2831853 * 7.0 * (y + shift));
    float here = colour == 0 ? wave : 1.0 - wave;
    float edge = smoothstep(0.0, 0.06, y) * smoothstep(1.0, 0.94, y);
    return edge * smoothstep(0.30, 0.80, here);
}

vec4 kernel(ivec2 p) {
    int first = 4 * texel_index(p);
    int y = first / cells.x;
    int x = first - y * cells.x;
    vec4 now = dye_here();
    if (x >= 8 || y >= cells.y) return now;
    return vec4(stripe((float(y) + 0.5) / float(cells.y)));
}
