// A Jacobi sweep with nine bands: x' = x + omega D^-1 (b - A x), one unknown a texel [Goeddeke05]. RGBA 0: one system,
// its bands in the channels of three textures; 1: four systems, each band a texture. INVERSE: omega D^-1 is given, as `weight`.
// INTERPOLATED: where the neighbours lie comes from the vertex stage.
#include "include/neighbours.glsl"
#if RGBA
#define NUMBER vec4
#define X(c) x_placed(c)
#else
#define NUMBER float
#define X(c) x_placed(c).x
#endif

vec4 kernel(ivec2 p) {
#if !INTERPOLATED
    vec2 q = vec2(p), up = vec2(0.0, x_step().y);
    vec2 own = x_place(q), left = x_place(before(q)), right = x_place(after(q));
    vec4 middles = vec4(own - up, own + up), sides = vec4(left, right);
    vec4 lows = vec4(left - up, right - up), highs = vec4(left + up, right + up);
#endif
#if RGBA
    vec4 x0 = x_here(), diagonal = dd_here(), right_side = b_here();
    vec4 y = diagonal * x0 + dl_here() * X(sides.xy) + du_here() * X(sides.zw)
        + ld_here() * X(middles.xy) + ll_here() * X(lows.xy) + lu_here() * X(lows.zw)
        + ud_here() * X(middles.zw) + ul_here() * X(highs.xy) + uu_here() * X(highs.zw);
#else
    // (LL, LD, LU, b), (DL, DD, DU, weight), (UL, UD, UU, 0)
    vec4 l = l_here(), d = d_here(), u = u_here();
    float x0 = x_here().x, diagonal = d.y, right_side = l.w;
    float y = d.y * x0 + d.x * X(sides.xy) + d.z * X(sides.zw)
        + l.y * X(middles.xy) + l.x * X(lows.xy) + l.z * X(lows.zw)
        + u.y * X(middles.zw) + u.x * X(highs.xy) + u.z * X(highs.zw);
#endif
    NUMBER change = right_side - y;
#if !INVERSE
    change = RELAXED(change / diagonal);
#elif RGBA
    change *= weight_here();
#else
    change *= d.w;
#endif
    return vec4(x0 + change);
}
