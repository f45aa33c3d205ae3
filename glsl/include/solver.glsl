// What the scalar steps of the solvers share. The report is (flag, iterations, r.r, value that broke down).
#ifndef TEXLA_INCLUDE_SOLVER
#define TEXLA_INCLUDE_SOLVER
#include "include/flags.glsl"
#include "include/total.glsl"

// The bound on r.r: a number of the host's, or a share of one that only the device knows.
#ifdef RELATIVE
float bound() { return threshold * unit_value(); }
#else
float bound() { return threshold; }
#endif
#endif
