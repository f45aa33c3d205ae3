// The map as a picture: bands of colour between contours, lit from the upper left as if signals were heights, and marks on
// the towers.
vec3 ramp(float t) {
    const vec3 c0 = vec3(0.055, 0.060, 0.135), c1 = vec3(0.110, 0.200, 0.400), c2 = vec3(0.100, 0.435, 0.520);
    const vec3 c3 = vec3(0.300, 0.680, 0.450), c4 = vec3(0.930, 0.830, 0.330), c5 = vec3(1.000, 0.975, 0.840);
    float s = 5.0 * clamp(t, 0.0, 1.0);
    vec3 c = mix(c0, c1, clamp(s, 0.0, 1.0));
    c = mix(c, c2, clamp(s - 1.0, 0.0, 1.0));
    c = mix(c, c3, clamp(s - 2.0, 0.0, 1.0));
    c = mix(c, c4, clamp(s - 3.0, 0.0, 1.0));
    return mix(c, c5, clamp(s - 4.0, 0.0, 1.0));
}

float at(ivec2 q) { return map_clamped(clamp(q, ivec2(0), map_extent() - 1)).x / strongest; }

vec4 kernel(ivec2 p) {
    int t = texel_index(p);
    int width = map_extent().x;
    ivec2 q = ivec2(t % width, t / width);
    q.y = map_extent().y - 1 - q.y; // pictures begin at the top
    float v = at(q);
    vec2 slope = 0.5 * vec2(at(q + ivec2(1, 0)) - at(q - ivec2(1, 0)), at(q + ivec2(0, 1)) - at(q - ivec2(0, 1)));
    // Ten bands; within one the colour changes a little.
    float band = floor(10.0 * v);
    vec3 colour = v > 0.0 ? ramp(0.06 + 0.094 * (band + 0.35 * (10.0 * v - band))) : vec3(0.030, 0.033, 0.060);
    float relief = dot(slope, vec2(1.0, -1.0)) / (0.002 + length(slope));
    colour *= 1.0 + 0.10 * relief;
    // A contour where the signal passes a tenth within the pixel.
    float off = abs(10.0 * v - round(10.0 * v)) / (10.0 * length(slope) + 1e-6);
    if (v > 0.0) colour *= 1.0 - 0.30 * (1.0 - smoothstep(0.25, 1.0, off));
    float mark = marks_clamped(q).x;
    colour = mix(colour, vec3(0.02, 0.02, 0.05), clamp(mark, 0.0, 1.0));
    colour = mix(colour, vec3(1.0, 0.40, 0.22), clamp(mark - 1.0, 0.0, 1.0));
    return vec4(clamp(colour, 0.0, 1.0), 1.0);
}
