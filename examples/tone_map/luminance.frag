// L = the luminance of four pixels, one to a texel of `pixels` (Rec. 709 primaries); not below 0.
float luminance(vec4 c) { return max(0.0, 0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b); }

vec4 kernel(ivec2 p) {
    int t = 4 * texel_index(p);
    return vec4(luminance(pixels_shifted(t)), luminance(pixels_shifted(t + 1)),
                luminance(pixels_shifted(t + 2)), luminance(pixels_shifted(t + 3)));
}
