// What a device profile times to learn what arithmetic takes: 64 multiply-adds a round, in four independent chains.
vec4 kernel(ivec2 p) {
    vec4 a = vec4(p.xyxy);
    vec4 b = a + 1.0;
    vec4 c = a + 2.0;
    vec4 d = a + 3.0;
    for (int k = 0; k < rounds; ++k) {
        for (int j = 0; j < 4; ++j) {
            a = a * factor + 0.5;
            b = b * factor + 0.5;
            c = c * factor + 0.5;
            d = d * factor + 0.5;
        }
    }
    return (a + b) + (c + d);
}
