// A sweep of projected Jacobi with fixed relaxation [Moravanszky03] 4.2: x' = max(x - d w, 0) with w = A x + b and
// d_i = omega / a_ii (the paper's omega is negative).
vec4 kernel(ivec2 p) {
    return max(x_here() - d_here() * w_here(), vec4(0.0));
}
