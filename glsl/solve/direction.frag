// d' = z + beta d with beta on the device; d as it is once the iterates are frozen. A first direction is z alone: what d
// holds then is anything, and may be infinite.
vec4 kernel(ivec2 p) {
    vec4 c = direction_at(ivec2(0));
    if (c.z != 0.0) return d_here();
    return c.x == 0.0 ? z_here() : z_here() + c.x * d_here();
}
