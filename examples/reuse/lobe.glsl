// Bells of four widths along one axis, u from -1 to 1: the first `steps` terms of the exponential series, by Horner's rule.
vec4 lobe(float place) {
    float u = place * scale - 1.0;
    vec4 z = -(u * u) * widths;
    vec4 sum = vec4(1.0);
    for (int j = steps; j > 0; --j) sum = 1.0 + sum * (z / float(j));
    return sum;
}
