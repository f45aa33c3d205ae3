// r = S (b - A x): the residual on its way to the coarser grid, R = B^T S / 2^k. S is diagonal: at a side of the grid and
// beside solid cells bilinear weights do not sum to what interpolation needs there.
#include "include/operator.glsl"
#include "include/transfer.glsl"

vec4 kernel(ivec2 p) {
    Place c = place(texel_index(p));
    return transfer_scale(c) * (b_here() - applied(x_here(), c));
}
