// Small things that several kernels need.
#ifndef TEXLA_INCLUDE_PRELUDE
#define TEXLA_INCLUDE_PRELUDE

// Powers of two from the bits of a float: exact, where log2 and exp2 are not.
// 2^-floor(log2 m), kept within the normal range; 1 for m = 0.
float inverse_scale(float m) {
    int e = (floatBitsToInt(m) >> 23) & 255;
    return e == 0 ? 1.0 : intBitsToFloat(clamp(254 - e, 1, 253) << 23);
}

// x, but zero where the coefficient is: what is none of a row's, or meant for another lane, may be infinite or NaN, which
// times zero is NaN. By the bits: one below the normal range is a coefficient, which bounds on errors count.
vec4 where_nonzero(vec4 coefficient, vec4 x) {
    bvec4 zero = equal(floatBitsToInt(coefficient) << 1, ivec4(0));
    return vec4(zero.x ? 0.0 : x.x, zero.y ? 0.0 : x.y, zero.z ? 0.0 : x.z, zero.w ? 0.0 : x.w);
}
#endif
