// A Jacobi sweep with nine bands: x' = x + omega D^-1 (b - A x), one unknown a texel [Goeddeke05]. RGBA 0: one system,
// its bands in the channels of three textures; 1: four systems, each band a texture. INVERSE: omega D^-1 is given, as `weight`.
// INTERPOLATED: where the neighbours lie comes from the vertex stage, as texture coordinates; otherwise texels are fetched
// by their numbers, as the paper's texRECT does.
#include "include/neighbours.glsl"
#if RGBA
#define NUMBER vec4
#define NUMBER_OF(texel) (texel)
#else
#define NUMBER float
#define NUMBER_OF(texel) (texel).x
#endif
#if INTERPOLATED
#define AT(c) NUMBER_OF(x_placed(c))
#else
// What lies past the matrix is multiplied by zero, but has to be a number: rows before the first and after the last, and
// where a row is one unknown, which is both of its ends, columns.
#define AT(q) NUMBER_OF(x_fetched(inside(q)))
#if SIDE > 1
ivec2 inside(ivec2 q) { return clamp(q, 0, last); }
#else
ivec2 inside(ivec2 q) { return ivec2(q.x, clamp(q.y, 0, last)); }
#endif
#endif

vec4 kernel(ivec2 p) {
#if INTERPOLATED
    vec2 low = middles.xy, high = middles.zw, left = sides.xy, right = sides.zw;
    vec2 low_left = lows.xy, low_right = lows.zw, high_left = highs.xy, high_right = highs.zw;
#else
#if SIDE == 0
    ivec2 left = ivec2(before(vec2(p))), right = ivec2(after(vec2(p)));
#else
    ivec2 left = p + (SIDE == 2 ? ivec2(last, -1) : ivec2(-1, 0)), right = p + (SIDE == 3 ? ivec2(-last, 1) : ivec2(1, 0));
#endif
    ivec2 up = ivec2(0, 1), low = p - up, high = p + up;
    ivec2 low_left = left - up, low_right = right - up, high_left = left + up, high_right = right + up;
#endif
#if RGBA
    vec4 x0 = X, diagonal = DD, right_side = B;
    vec4 y = diagonal * x0 + DL * AT(left) + DU * AT(right) + LD * AT(low) + LL * AT(low_left) + LU * AT(low_right)
        + UD * AT(high) + UL * AT(high_left) + UU * AT(high_right);
#else
    // (LL, LD, LU, b), (DL, DD, DU, weight), (UL, UD, UU, 0)
    vec4 l = L, d = D, u = U;
    float x0 = X.x, diagonal = d.y, right_side = l.w;
    float y = d.y * x0 + d.x * AT(left) + d.z * AT(right) + l.y * AT(low) + l.x * AT(low_left) + l.z * AT(low_right)
        + u.y * AT(high) + u.x * AT(high_left) + u.z * AT(high_right);
#endif
    NUMBER change = right_side - y;
#if !INVERSE
    change = RELAXED(change / diagonal);
#elif RGBA
    change *= WEIGHT;
#else
    change *= d.w;
#endif
    return vec4(x0 + change);
}
