// The start of a power iteration: +-0.5 to +-1.5 by a hash of the element's place in its problem, 0 in padding.
// A vector of ones would be an eigenvector of some matrices, and miss the largest eigenvalue.
#include "include/owner.glsl"
#include "include/hash.glsl"

vec4 kernel(ivec2 p) {
    uint i = 4u * uint(owner(p).y);
    vec4 v = vec4(hashed(i), hashed(i + 1u), hashed(i + 2u), hashed(i + 3u));
    return v * vec4(greaterThan(inverses_here(), vec4(0.0)));
}
