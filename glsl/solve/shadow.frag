// A shadow residual that has nothing to do with the system: +-0.5 to +-1.5 by a hash of the element's number.
#include "include/hash.glsl"

vec4 kernel(ivec2 p) {
    uint i = 4u * uint(texel_index(p)) + uint(seed) * 2654435769u;
    return vec4(hashed(i), hashed(i + 1u), hashed(i + 2u), hashed(i + 3u));
}
