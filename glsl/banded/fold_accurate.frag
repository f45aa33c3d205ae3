// out_i = x_i + x_(i + n) + beta z_i in double-float, rounded once: x is a pair, and beta a power of two. PART is what of
// the sum is asked for: high or low.
#include "include/exact.glsl"

vec4 kernel(ivec2 p) {
    int i = 4 * texel_index(p);
    Sum4 s = Sum4(high_texel(texel_index(p)), low_texel(texel_index(p)));
    // Past the last element of y begins the other half, or nothing: cut off behind this.
    ivec4 j = min(ivec4(i + length_) + ivec4(0, 1, 2, 3), ivec4(max(2 * length_ - 1, 0)));
    vec4 high_part = vec4(high_element(uint(j.x)), high_element(uint(j.y)), high_element(uint(j.z)), high_element(uint(j.w)));
    vec4 low_part = vec4(low_element(uint(j.x)), low_element(uint(j.y)), low_element(uint(j.z)), low_element(uint(j.w)));
    s = add_pair4(s, high_part, low_part);
    s = add_pair4(s, ADDED, vec4(0.0));
    return s.PART;
}
