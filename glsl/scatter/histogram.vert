// One point for each element, on the texel of its bin: adds 1 or the element's weight ([BeyondVector] 28.4.3). Points are
// placed by the number of their texel, so that the source's slip (its points fall on the edges between pixels) does not arise.
void point(int i, out ivec2 texel, out vec4 value) {
    int at = int(places_element(uint(i)));
#if APART
    at = at < 0 ? bin_count : (at == bin_count ? bin_count + 1 : at);
#else
    at = at == bin_count ? -1 : at;
#endif
    // A texel outside of the target drops the point.
    texel = at < 0 ? ivec2(-1) : texel_position(at >> 2);
#if WEIGHTED
    float weight = weights_element(uint(first_number + i));
#else
    float weight = 1.0;
#endif
    // The other lanes are other bins, and an infinite weight times zero would be NaN.
    int lane = at & 3;
    value = vec4(lane == 0 ? weight : 0.0, lane == 1 ? weight : 0.0, lane == 2 ? weight : 0.0, lane == 3 ? weight : 0.0);
}
