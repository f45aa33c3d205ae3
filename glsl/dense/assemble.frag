// C[.., j] = panel[.., j - origin]: a panel of a blocked product to its place.
vec4 kernel(ivec2 p) { return panel_at(p - origin); }
