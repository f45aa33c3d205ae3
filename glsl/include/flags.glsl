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

bool in_range(float x) { return abs(x) <= 3.0e38; }
#endif
