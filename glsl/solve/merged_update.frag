// The vector updates of Listing 44-1 [Krueger05] in one pass over three targets:
//   x' = x + alpha d,  r' = r - alpha q,  d' = M r' + beta d;  all as they were once the flag is set.
void kernel(ivec2 p, out vec4 next_x, out vec4 next_r, out vec4 next_d) {
    vec4 c = coefficients_at(ivec2(0));
    vec4 d4 = d_here();
    next_x = x_here();
    next_r = r_here();
    next_d = d4;
    if (c.z == 0.0) {
        next_x += (c.x * x_scale) * d4;
        next_r -= c.x * q_here();
#if DIAGONAL
        next_d = m_here() * next_r + c.y * d4;
#else
        next_d = next_r + c.y * d4;
#endif
    }
}
