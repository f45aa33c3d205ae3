// The scalar step of a power iteration with D^-1 A in the norm x.Dx, for every problem:
//   (growth of the norm, 1 / norm, |x_0.A x_1 - x_1.A x_0| relative to the norms, norm of the start).
// Only the first two vectors tell of asymmetry: later ones are nearly parallel, and any A passes then.
vec4 kernel(ivec2 p) {
    ivec2 range = ivec2(ranges_texel(texel_index(p)).xy);
    vec4 sums = vec4(0.0);
    for (int k = 0; k < range.y; ++k) {
        sums += part_a_texel(range.x + k);
    }
    vec4 last = last_at(p);
    float norm = sqrt(sums.x);
    float growth = sums.y > 0.0 ? norm / sqrt(sums.y) : 0.0;
    float reciprocal = norm > 0.0 ? 1.0 / norm : 0.0;
    if (step_number == 0) return vec4(growth, reciprocal, 0.0, sqrt(sums.y));
    float asymmetry = last.z;
    if (step_number == 1 && last.w > 0.0) {
        asymmetry = abs(sums.z - sums.w) / (last.w * (growth + last.x));
    }
    return vec4(growth, reciprocal, asymmetry, last.w);
}
