// One step of the wave equation, four cells of a row at a time: u'' = c^2 lap u, damped towards the edges.
// `now` and `before` are the last two states; `medium` holds (c dt / dx)^2 and `keep` the damping, both per cell.
vec4 kernel(ivec2 p) {
    int t = texel_index(p);
    vec4 u = now(p);
    // Outside the grid the surface is at rest. The cells beside a texel's four lie in the texels beside it.
    float west = t % width == 0 ? 0.0 : now_texel(t - 1).w;
    float east = t % width == width - 1 ? 0.0 : now_texel(t + 1).x;
    vec4 south = t < width ? vec4(0.0) : now_texel(t - width);
    vec4 north = t >= width * (height - 1) ? vec4(0.0) : now_texel(t + width);
    vec4 laplacian = vec4(west, u.xyz) + vec4(u.yzw, east) + south + north - 4.0 * u;
    vec4 k = keep(p);
    vec4 next = u + k * (u - before(p)) + medium(p) * laplacian;
    // The source: the first cells of each row move up and down together.
    return t % width == 0 ? vec4(drive) : next;
}
