// The flags by which iterates freeze: every one but RUNNING does, and the first one to be set stays.
#ifndef TEXLA_INCLUDE_FLAGS
#define TEXLA_INCLUDE_FLAGS
#define RUNNING 0.0
#define MET 1.0
#define CURVATURE 2.0
#define INDEFINITE 3.0
#define OUT_OF_RANGE 4.0
#define EXHAUSTED 5.0
#define STALLED 6.0
#define SHADOW 7.0
#define SHADOW_DIRECTION 8.0

// By the bits, |x| <= 3e38: comparisons may be turned round by a compiler that takes NaN not to occur.
bool in_range(float x) { return (floatBitsToInt(x) & 0x7fffffff) <= 0x7f61b1e6; }
#endif
