// log(delta + L), delta a fixed share of the largest L: the terms of the log-average.
vec4 kernel(ivec2 p) { return log(brightest_value() * dark + luminance_here()); }
