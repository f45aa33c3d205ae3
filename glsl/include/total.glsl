// The rest of a solver's reduction: what its first stages have left to the scalar step.
#ifndef TEXLA_INCLUDE_TOTAL
#define TEXLA_INCLUDE_TOTAL

#ifndef TOTAL
#define TOTAL(a, b) ((a) + (b))
#endif

// The sum of all partial results.
vec4 total_of_dots() {
    vec4 total = vec4(0.0);
    for (int j = 0; j < source.y; ++j) {
        for (int i = 0; i < source.x; ++i) {
            total = TOTAL(total, dots_at(ivec2(i, j)));
        }
    }
    return total;
}
#endif
