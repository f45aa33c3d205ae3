// Numbers that look random, from an element's number.
#ifndef TEXLA_INCLUDE_HASH
#define TEXLA_INCLUDE_HASH

// "lowbias32" of C. Wellons.
uint mixed(uint h) {
    h ^= h >> 16u;
    h *= 0x7feb352du;
    h ^= h >> 15u;
    h *= 0x846ca68bu;
    return h ^ (h >> 16u);
}

// 0.5 to 1.5 with a sign.
float hashed(uint i) {
    uint h = mixed(i + 1u);
    float magnitude = 0.5 + float(h >> 9u) / 8388608.0;
    return (h & 1u) == 0u ? magnitude : -magnitude;
}
#endif
