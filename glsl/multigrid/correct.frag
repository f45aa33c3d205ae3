// y = x + S B e: the coarser grid's correction e, interpolated: along an axis 3/4 of the cell that a cell is part of, 1/4
// of the other one it lies next to. SWEEPS: and a sweep of weighted Jacobi after it, y = x + v + omega D^-1 (r - A v) with
// v = S B e and the residual r = b - A x of before, of which S r is what the coarser grid was given.
#if SWEEPS
#include "include/operator.glsl"
#endif
#include "include/stencil.glsl"
#include "include/transfer.glsl"

vec4 kernel(ivec2 p) {
    Place c = place(texel_index(p));
    vec4 s = transfer_scale(c);
#if SWEEPS
    Lines l = lines(c);
    vec4 v = s * spread(l.own);
    Near n;
#if AXIS_X
    // Cells beside a texel in its row are inner ones, as its second is.
    vec2 beside = s.y * (0.75 * l.own.xw + 0.25 * l.own.yz);
    n.low_x = low_x_of(beside.x, v, c);
    n.high_x = high_x_of(beside.y, v, c);
#endif
#if AXIS_Y
    n.low_y = low_y_of(transfer_scale(Place(c.t, c.x, c.y - 1, c.z)) * spread(l.low), c);
    n.high_y = high_y_of(transfer_scale(Place(c.t, c.x, c.y + 1, c.z)) * spread(l.high), c);
#endif
    return x_here() + (v + omega * (r_here() - s * applied_near(v, n, c)) / (s * diagonal(c)));
#else
    return x_here() + s * interpolated(c);
#endif
}
