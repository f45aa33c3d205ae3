// A residual beside what its rows are made of: |r| / m, and whether that is more than the limit. A row whose residual is zero
// is satisfied, whatever it is made of.
void kernel(ivec2 p, out vec4 omega, out vec4 beyond) {
    vec4 r = abs(r_at(p));
    omega = mix(r / m_at(p), vec4(0.0), equal(r, vec4(0.0)));
    beyond = vec4(greaterThan(omega, vec4(limit)));
}
