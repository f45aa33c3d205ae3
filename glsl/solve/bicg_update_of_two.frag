// The vector updates of BiCGStab(2), all as they were once the iterates are frozen, of what its two last scalar steps have found:
//   y' = y + alpha M p + (alpha2 + gamma1) M s - gamma1 alpha2 M u1 + gamma2 M r1
//   r' = r0 - gamma1 r1 - gamma2 r2,  p' = r' - beta (u0 - gamma1 u1 - gamma2 u2)
// with factor, a power of two, on the updates of y.
void kernel(ivec2 p, out vec4 next_y, out vec4 next_r, out vec4 next_p) {
    vec4 c = second_at(ivec2(0));
    vec4 g = minimum_at(ivec2(0));
    next_y = y_here();
    next_r = r_here();
    next_p = p_here();
    if (g.w == 0.0) {
        next_y += factor * (c.z * mp_here() + (c.x + g.x) * ms_here() - (g.x * c.x) * mu_here() + g.y * mt_here());
        next_r = r0_here() - g.x * r1_here() - g.y * r2_here();
        next_p = next_r - g.z * (u0_here() - g.x * u1_here() - g.y * u2_here());
    }
}
