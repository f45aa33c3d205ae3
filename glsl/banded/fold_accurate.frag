// out_i = x_i + x_(i + n) + beta z_i in double-float, rounded once: x is a pair, and beta a power of two. PART is what of
// the sum is asked for: high or low. Without PART x has three parts, or is a bound, and is added to another of the kind.
#include "include/exact.glsl"

// Past the last element of y begins the other half, or nothing: cut off behind this.
ivec4 other_half(int t) {
    return min(ivec4(4 * t + length_) + ivec4(0, 1, 2, 3), ivec4(max(2 * length_ - 1, 0)));
}
#define OTHER(element) vec4(element(uint(j.x)), element(uint(j.y)), element(uint(j.z)), element(uint(j.w)))

#ifdef PART
vec4 kernel(ivec2 p) {
    int t = texel_index(p);
    ivec4 j = other_half(t);
    Sum4 s = Sum4(high_texel(t), low_texel(t));
    s = add_pair4(s, OTHER(high_element), OTHER(low_element));
    s = add_pair4(s, ADDED, vec4(0.0));
    return s.PART;
}
#else
void kernel(ivec2 p, OUT_SUM) {
    int t = texel_index(p);
    ivec4 j = other_half(t);
    Sum4 s = add_pair4(STARTED, high_texel(t), low_texel(t));
    s = add_pair4(s, OTHER(high_element), OTHER(low_element));
#ifdef TRIPLE
    s = add_pair4(s, rest_texel(t), OTHER(rest_element));
#endif
    WRITE_SUM(s);
}
#endif
