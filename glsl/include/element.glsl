// What the registers and numbers of a solver are made of: floats, or where WIDE is set pairs of them. A Texel holds four
// elements of a register, a Number is a scalar. Scalar text written for floats is translated for pairs: each operator becomes
// one of the functions at the end of this file.
#ifndef TEXLA_INCLUDE_ELEMENT
#define TEXLA_INCLUDE_ELEMENT
#include "include/flags.glsl"

// The cosine between two vectors, of a.b, a.a and b.b: by factors so that no product leaves the range. 0 beside a vector of zeros.
float cosine(float ab, float aa, float bb) { return aa > 0.0 && bb > 0.0 ? ab / sqrt(aa) / sqrt(bb) : 0.0; }

#if WIDE
#include "include/pairs.glsl"
float cosine(vec2 ab, vec2 aa, vec2 bb) { return cosine(ab.x, aa.x, bb.x); }
#define Texel Pair4
#define Number vec2
#define NOTHING Pair4(vec4(0.0), vec4(0.0))
float leading(vec2 x) { return x.x; }
bool within(vec2 x) { return in_range(x.x); }
Pair4 weighted(vec4 m, Pair4 x) {
    Pair4 p = times_float4(x, m);
    return fast_two_sum4(p.high, p.low);
}
Pair4 moved(Pair4 to, vec2 by, Pair4 along) { return add_times4(to, by, along); }
// By a factor in two powers of two besides.
Pair4 moved_by(Pair4 to, vec2 scale, vec2 by, Pair4 along) {
    return add_times4(to, scaled4(vec4(by, 0.0, 0.0), scale).xy, along);
}
vec2 negative(vec2 x) { return -x; }

vec2 number(float x) { return vec2(x, 0.0); }
vec2 number(vec2 x) { return x; }
vec2 plus(vec2 a, vec2 b) { return add_pairs(a, b); }
vec2 plus(float a, vec2 b) { return add_pairs(vec2(a, 0.0), b); }
vec2 plus(vec2 a, float b) { return add_pairs(a, vec2(b, 0.0)); }
float plus(float a, float b) { return a + b; }
vec2 minus(vec2 a, vec2 b) { return add_pairs(a, -b); }
vec2 minus(float a, vec2 b) { return add_pairs(vec2(a, 0.0), -b); }
vec2 minus(vec2 a, float b) { return add_pairs(a, vec2(-b, 0.0)); }
float minus(float a, float b) { return a - b; }
vec2 times(vec2 a, vec2 b) {
    vec2 p = two_product(a.x, b.x);
    EXACT float cross = held(held(a.x * b.y) + held(a.y * b.x));
    return fast_two_sum(p.x, held(p.y + cross));
}
vec2 times(float a, vec2 b) { return times(vec2(a, 0.0), b); }
vec2 times(vec2 a, float b) { return times(a, vec2(b, 0.0)); }
float times(float a, float b) { return a * b; }
vec2 over(vec2 a, vec2 b) { return divide_pairs(a, b); }
vec2 over(float a, vec2 b) { return divide_pairs(vec2(a, 0.0), b); }
vec2 over(vec2 a, float b) { return divide_pairs(a, vec2(b, 0.0)); }
float over(float a, float b) { return a / b; }
float sign_of(float x) { return x; }
float sign_of(vec2 x) { return x.x; }
vec2 root(vec2 a) {
    float s = sqrt(a.x);
    if (!(s > 0.0) || !in_range(s)) return vec2(s, 0.0);
    vec2 p = two_product(s, s);
    vec2 rest = add_pairs(a, -p);
    return fast_two_sum(s, rest.x / (2.0 * s));
}
float root(float a) { return sqrt(a); }
vec2 magnitude(vec2 a) { return a.x < 0.0 ? -a : a; }
float magnitude(float a) { return abs(a); }
vec2 larger(vec2 a, vec2 b) { return minus(a, b).x < 0.0 ? b : a; }
vec2 larger(vec2 a, float b) { return larger(a, vec2(b, 0.0)); }
vec2 smaller(vec2 a, vec2 b) { return minus(a, b).x < 0.0 ? a : b; }
vec2 smaller(vec2 a, float b) { return smaller(a, vec2(b, 0.0)); }
vec2 hypotenuse(vec2 a, vec2 b) {
    float size = max(abs(a.x), abs(b.x));
    if (!(size > 0.0) || !in_range(size)) return vec2(size, 0.0);
    vec2 scale = vec2(1.0 / size, 0.0);
    vec2 u = times(a, scale);
    vec2 v = times(b, scale);
    return over(root(plus(times(u, u), times(v, v))), scale);
}
#else
#define Texel vec4
#define Number float
#define NOTHING vec4(0.0)
float leading(float x) { return x; }
bool within(float x) { return in_range(x); }
vec4 weighted(vec4 m, vec4 x) { return m * x; }
vec4 moved(vec4 to, float by, vec4 along) { return to + by * along; }
// By a factor besides that may be so small that nothing but the whole update stays in range when multiplied by it.
vec4 moved_by(vec4 to, float scale, float by, vec4 along) { return to + scale * (by * along); }
float negative(float x) { return -x; }
float number(float x) { return x; }
float hypotenuse(float a, float b) {
    float size = max(abs(a), abs(b));
    return size == 0.0 ? 0.0 : size * length(vec2(a, b) / size);
}
#endif
#endif
