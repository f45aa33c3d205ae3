// y = combine(alpha sum of the ranges of stack/product.frag, z), from the left to the right.
vec4 kernel(ivec2 p) {
    vec4 sum = vec4(0.0);
    for (int s = 0; s < shares; ++s) {
        sum += partial_at(ivec2(p.x + s * width, p.y));
    }
    return COMBINE(sum * factors.x);
}
