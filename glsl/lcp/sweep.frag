// A sweep of projected Jacobi with momentum: x' = max(y - omega D^-1 v, 0), where
//   y = x + beta (x - before),  v = w + beta (w - w_before),  beta = age / (age + 3),
// so that v = A y + b without another product. x as it is once its problem is frozen.
// control: (omega, sweep since which momentum builds up or -1, ...), report: (flag, ...).
#include "include/flags.glsl"
#include "include/owner.glsl"
// PAIRS: x is a correction of a pair, and base the high part of that.
#ifdef PAIRS
#define LEAST (-base_here())
#else
#define LEAST vec4(0.0)
#endif

vec4 kernel(ivec2 p) {
    int problem = owner(p).x;
    vec4 x4 = x_here();
    vec4 c = control_texel(problem);
    if (report_texel(problem).x != RUNNING) return x4;
    vec4 w4 = w_here();
    float age = sweep - c.y;
    if (c.y >= 0.0 && age > 0.0) {
        float beta = age / (age + 3.0);
        x4 += beta * (x4 - before_here());
        w4 += beta * (w4 - w_before_here());
    }
    return max(x4 - (c.x * inverses_here()) * w4, LEAST);
}
