// The sums of scatter/histogram.vert without blending: a fragment holds four bins and adds, in the order of the elements, 1 or
// the weight of each element that belongs to one of them. Ranges of elements are summed side by side, each SIDE texels wide;
// dense/total.frag adds the ranges.
vec4 kernel(ivec2 p) {
    // The places of the elements that belong to the four bins. Lanes past the last bin are masked in the end.
    ivec4 bins = 4 * (p.y * SIDE + p.x % SIDE) + ivec4(0, 1, 2, 3);
    vec4 own = vec4(bins);
#if APART
    own = mix(own, vec4(-1.0), equal(bins, ivec4(bin_count)));
    own = mix(own, vec4(float(bin_count)), equal(bins, ivec4(bin_count + 1)));
#endif
    // range: texels in a range of elements, the first of these in this pass, and the end of them.
    int start = (p.x / SIDE) * range.x;
    int end = min(min(start + range.z, start + range.x), texels);
    vec4 sum = START;
    for (int t = start + range.y; t < end; ++t) {
        vec4 places = places_texel(t);
#if WEIGHTED
        vec4 weights = weights_texel(first_texel + t);
#else
        vec4 weights = vec4(1.0);
#endif
        // Selected, not multiplied: an infinite weight times zero would be NaN.
        sum += mix(vec4(0.0), vec4(weights.x), equal(own, vec4(places.x)));
        sum += mix(vec4(0.0), vec4(weights.y), equal(own, vec4(places.y)));
        sum += mix(vec4(0.0), vec4(weights.z), equal(own, vec4(places.z)));
        sum += mix(vec4(0.0), vec4(weights.w), equal(own, vec4(places.w)));
    }
    return sum;
}
