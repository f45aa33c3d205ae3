// y + factor M V R⁻¹ g
vec4 kernel(ivec2 p) { return y_here() + factor * update_here(); }
