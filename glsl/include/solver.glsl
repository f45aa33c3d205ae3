// What the scalar steps of the solvers share. The report is (flag, iterations, r.r, value that broke down).
#ifndef TEXLA_INCLUDE_SOLVER
#define TEXLA_INCLUDE_SOLVER
#include "include/flags.glsl"

// The bound on r.r: a number of the host's, or a share of one that only the device knows. Macros, since not every kernel
// that adds up has one.
#ifdef RELATIVE
#define bound() (threshold * unit_value())
#else
#define bound() (threshold)
#endif

// The rest of the reduction: this texel is the sum of all partial results.
vec4 total_of_dots() {
    vec4 total = vec4(0.0);
    for (int j = 0; j < source.y; ++j) {
        for (int i = 0; i < source.x; ++i) {
            total += dots_at(ivec2(i, j));
        }
    }
    return total;
}
#endif
