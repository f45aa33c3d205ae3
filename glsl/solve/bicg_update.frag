// The vector updates of BiCGStab, all as they were once the iterates are frozen:
//   y' = y + alpha M p + omega M s,  r' = s - omega t,  p' = r' + beta (p - omega v)
// with factor, a power of two, on the updates of y. In one pass, or one by one where there are not three draw buffers.
vec4 moved_y(vec4 c) {
    return c.w != 0.0 ? y_here() : y_here() + factor * (c.x * mp_here() + c.y * ms_here());
}

vec4 moved_r(vec4 c) { return c.w != 0.0 ? r_here() : s_here() - c.y * t_here(); }

vec4 moved_p(vec4 c) {
    return c.w != 0.0 ? p_here() : moved_r(c) + c.z * (p_here() - c.y * v_here());
}

#if PART == 0
vec4 kernel(ivec2 p) { return moved_y(coefficients_at(ivec2(0))); }
#elif PART == 1
vec4 kernel(ivec2 p) { return moved_r(coefficients_at(ivec2(0))); }
#elif PART == 2
vec4 kernel(ivec2 p) { return moved_p(coefficients_at(ivec2(0))); }
#else
void kernel(ivec2 p, out vec4 next_y, out vec4 next_r, out vec4 next_p) {
    vec4 c = coefficients_at(ivec2(0));
    next_y = moved_y(c);
    next_r = moved_r(c);
    next_p = moved_p(c);
}
#endif
