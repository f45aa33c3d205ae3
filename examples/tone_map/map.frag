// A pixel for the screen, sRGB: linear, so that the largest channel becomes 1 ([BeyondVector] 28.4-2), or by the global
// operator of Reinhard, Stark, Shirley and Ferwerda (2002), Ld = L (1 + L / white^2) / (1 + L), L = key / log-average.
float encoded(float v) {
    v = clamp(v, 0.0, 1.0);
    return v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1.0 / 2.4) - 0.055;
}

vec4 kernel(ivec2 p) {
    vec3 light = max(pixels(p).rgb, 0.0);
    if (reinhard == 0) {
        light /= largest_value();
    } else {
        float exposure = key / exp(mean_log_value());
        float l = exposure * dot(light, vec3(0.2126, 0.7152, 0.0722));
        float w = white > 0.0 ? white : exposure * brightest_value();
        // Ld / L, times the exposure.
        light *= exposure * ((1.0 + l / (w * w)) / (1.0 + l));
    }
    return vec4(encoded(light.r), encoded(light.g), encoded(light.b), 0.0);
}
