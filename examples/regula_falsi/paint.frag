// The steps that each cell took, on a logarithmic scale, between bands where the root is a multiple of a tenth.
vec3 ramp(float t) {
    const vec3 c0 = vec3(0.02, 0.03, 0.10), c1 = vec3(0.20, 0.10, 0.42), c2 = vec3(0.64, 0.17, 0.44);
    const vec3 c3 = vec3(0.95, 0.45, 0.26), c4 = vec3(1.00, 0.93, 0.66);
    float s = 4.0 * clamp(t, 0.0, 1.0);
    vec3 c = mix(c0, c1, clamp(s, 0.0, 1.0));
    c = mix(c, c2, clamp(s - 1.0, 0.0, 1.0));
    c = mix(c, c3, clamp(s - 2.0, 0.0, 1.0));
    return mix(c, c4, clamp(s - 3.0, 0.0, 1.0));
}

float root(int i) {
    vec4 s = cells_texel(i);
    return s.z < 0.0 ? s.x : s.y;
}

vec4 kernel(ivec2 p) {
    int t = texel_index(p);
    ivec2 q = ivec2(t % side, side - 1 - t / side); // pictures begin at the top
    int i = q.y * side + q.x;
    vec3 colour = ramp(log2(1.0 + cells_texel(i).w) / log2(1.0 + most));
    float x = root(i);
    float right = root(i + (q.x + 1 < side ? 1 : 0)), above = root(i + (q.y + 1 < side ? side : 0));
    bool line = floor(10.0 * x) != floor(10.0 * right) || floor(10.0 * x) != floor(10.0 * above);
    return vec4(line ? mix(colour, vec3(1.0), 0.55) : colour, 1.0);
}
