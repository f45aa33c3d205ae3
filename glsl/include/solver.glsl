// What the scalar steps of the solvers share. The report is (flag, iterations, r.r, value that broke down); every flag
// but RUNNING freezes the iterates, and the first one to be set stays.
#ifndef TEXLA_INCLUDE_SOLVER
#define TEXLA_INCLUDE_SOLVER
#define RUNNING 0.0
#define MET 1.0
#define CURVATURE 2.0
#define INDEFINITE 3.0
#define OUT_OF_RANGE 4.0
#define EXHAUSTED 5.0

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

bool in_range(float x) { return abs(x) <= 3.0e38; }
#endif
