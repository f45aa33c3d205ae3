// One point for each element of x, in its bin: adds 1 or the element's weight ([BeyondVector] 28.4.3). Points are placed by
// the number of their texel, so that the source's slip (its points fall on the edges between pixels) does not arise.
float bin(float x);

#define CLAMPED 0
#define APART 2

void point(int i, out ivec2 texel, out vec4 value) {
    uint number = uint(first_number + i);
    float position = floor(bin(x_element(number)));
    // Clamped while it is a float: it may lie past the range of integers. What is no number counts as below.
    int at = isnan(position) ? -1 : int(clamp(position, -1.0, float(bin_count)));
    if (out_of_range == CLAMPED) {
        at = clamp(at, 0, bin_count - 1);
    } else if (out_of_range == APART) {
        at = at < 0 ? bin_count : (at == bin_count ? bin_count + 1 : at);
    } else if (at == bin_count) {
        at = -1;
    }
    // A texel outside of the target drops the point.
    texel = at < 0 ? ivec2(-1) : texel_position(at >> 2);
#if defined(WEIGHTED)
    float weight = weights_element(number);
#else
    float weight = 1.0;
#endif
    // The other lanes are other bins, and an infinite weight times zero would be NaN.
    int lane = at & 3;
    value = vec4(lane == 0 ? weight : 0.0, lane == 1 ? weight : 0.0, lane == 2 ? weight : 0.0, lane == 3 ? weight : 0.0);
}
#undef CLAMPED
#undef APART
