// A step of the Chebyshev iteration: z + momentum (z - before) + factor M r, where r is what is left of the right-hand side and M
// the inverse of the diagonal. STEP 0 begins at z = 0; STEP 1 has nothing before z but that.
vec4 kernel(ivec2 p) {
    vec4 moved = factor * (m_here() * r_here());
#if STEP == 0
    return moved;
#elif STEP == 1
    vec4 z4 = z_here();
    return z4 + (momentum * z4 + moved);
#else
    vec4 z4 = z_here();
    return z4 + (momentum * (z4 - before_here()) + moved);
#endif
}
