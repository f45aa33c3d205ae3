// places_i = the number of the bin of x_i, as a float: bin_ends.x below the first bin and for NaN, bin_ends.y above the last
// bin, NOWHERE past the last element. The bin is the floor of what the function `bin` returns. In bins of equal width that is
// a subtraction and a product, each rounded once on every device; the source divides by the range instead
// ([BeyondVector] 28.4.3), and a division need not be rounded once. A custom function follows this text.
#if EQUAL_WIDTH
float bin(float x) { return (x - low) * bins_per_unit; }
#else
float bin(float x);
#endif

#define NOWHERE (-2.0)

float place_of(float x) {
    float position = floor(bin(x));
    // Clamped while it is a float: it may lie past the range of integers.
    return isnan(position) ? bin_ends.x : clamp(position, bin_ends.x, bin_ends.y);
}

vec4 kernel(ivec2 p) {
    int t = texel_index(p);
    vec4 four = x_shifted(first_texel + t);
    vec4 places = vec4(place_of(four.x), place_of(four.y), place_of(four.z), place_of(four.w));
    ivec4 elements = 4 * t + ivec4(0, 1, 2, 3);
    return mix(places, vec4(NOWHERE), greaterThanEqual(elements, ivec4(element_count)));
}
#undef NOWHERE
