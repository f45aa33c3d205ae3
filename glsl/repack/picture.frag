// The colour of v[y width + x]: between five of them, spread evenly from low to high. The unit is a power of two that makes the span
// about 1: a device may divide by its inverse, which of 2^127 is no normal float.
vec4 kernel(ivec2 p) {
    float at = (x_element(uint(p.y * width + p.x)) - low) * unit / span;
    float place = 4.0 * clamp(at, 0.0, 1.0);
    vec4 colour = max(1.0 - place, 0.0) * first + max(place - 3.0, 0.0) * last;
    colour += max(1.0 - abs(place - 1.0), 0.0) * second;
    colour += max(1.0 - abs(place - 2.0), 0.0) * middle;
    return colour + max(1.0 - abs(place - 3.0), 0.0) * fourth;
}
