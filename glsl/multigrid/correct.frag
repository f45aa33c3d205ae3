// y = x + S B e: the coarser grid's correction e, interpolated: along an axis 3/4 of the cell that a cell is part of, 1/4
// of the other one it lies next to.
#include "include/stencil.glsl"
#include "include/transfer.glsl"

vec4 kernel(ivec2 p) {
    Place c = place(texel_index(p));
    return x_here() + transfer_scale(c) * interpolated(c);
}
