// Powers of two from the bits of a float: exact, where log2 and exp2 are not.
#ifndef TEXLA_INCLUDE_PRELUDE
#define TEXLA_INCLUDE_PRELUDE

// 2^-floor(log2 m), kept within the normal range; 1 for m = 0.
float inverse_scale(float m) {
    int e = (floatBitsToInt(m) >> 23) & 255;
    return e == 0 ? 1.0 : intBitsToFloat(clamp(254 - e, 1, 253) << 23);
}
#endif
