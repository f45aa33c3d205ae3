// 1 where the signal is above a bound, else 0: summed, a number of cells.
vec4 kernel(ivec2 p) { return vec4(greaterThan(map(p), vec4(bound))); }
