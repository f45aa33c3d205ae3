// The least-squares problem of GMRES, a texel for each number: row j of the texture is column j of the triangle R, whose element i is
// the x of texel (i, j); behind it, at (restart, j), is the rotation that made it: (cosine, sine, element j of the rotated right-hand side,
// norm of what was left of A M v_j).
// The state is (columns that count, 1 / norm of the next vector or 0, what is left of the right-hand side, r.r where this cycle began).
#ifndef TEXLA_INCLUDE_ROTATIONS
#define TEXLA_INCLUDE_ROTATIONS
vec4 rotation(int j) { return factor_at(ivec2(restart, j)); }
#endif
