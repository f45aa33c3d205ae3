// One texel's four unknowns of a Gauss-Seidel (SOR) sweep: the step delta with (D / omega + T) delta = r, where T is the
// strictly lower (forward) or upper (backward) triangle of the texel's own block of A; by substitution, lane by lane.
//   w = omega / a_ii, near = w_i A[i, i -+ 1], far = w_i A[i, k] for (forward) (2, 0), (3, 1), (3, 0)
//                                                             or (backward) (0, 2), (1, 3), (0, 3)
// The step is added to x as it is drawn.
vec4 kernel(ivec2 p) {
    vec4 d = (w_here() * r_here()) * factor;
#if NEAR
    vec4 n = near_here();
#else
    vec4 n = vec4(0.0);
#endif
#if FAR
    vec4 f = far_here();
#else
    vec4 f = vec4(0.0);
#endif
#if FORWARD
    d.y -= n.y * d.x;
    d.z -= n.z * d.y + f.x * d.x;
    d.w -= (n.w * d.z + f.y * d.y) + f.z * d.x;
#else
    d.z -= n.z * d.w;
    d.y -= n.y * d.z + f.y * d.w;
    d.x -= (n.x * d.y + f.x * d.z) + f.z * d.w;
#endif
    return d;
}
