// The rest of a solver's reduction: what its first stages have left to the scalar step.
#ifndef TEXLA_INCLUDE_TOTAL
#define TEXLA_INCLUDE_TOTAL

#ifndef TOTAL
#define TOTAL(a, b) ((a) + (b))
#endif

// A function that sums all partial results: those of `at`, of so many columns and rows.
#define TOTAL_OF(name, at, source) vec4 name() { vec4 total = vec4(0.0); for (int j = 0; j < source.y; ++j) { for (int i = 0; i < source.x; ++i) { total = TOTAL(total, at(ivec2(i, j))); } } return total; }

TOTAL_OF(total_of_dots, dots_at, source)
#endif
