// Arithmetic on pairs of floats, as unevaluated sums: what 64 bits would do, to some 46.
#ifndef TEXLA_INCLUDE_PAIRS
#define TEXLA_INCLUDE_PAIRS
#include "include/exact.glsl"

// a + b: off by less than 2^-46 of |a| + |b|, of the sum itself where both have the same sign.
Pair4 add_pairs4(Pair4 a, Pair4 b) {
    Pair4 s = two_sum4(a.high, b.high);
    Pair4 t = two_sum4(a.low, b.low);
    s = fast_two_sum4(s.high, held4(s.low + t.high));
    return fast_two_sum4(s.high, held4(s.low + t.low));
}

// a b: off by less than 2^-45 of it.
Pair4 times_pair4(Pair4 a, Pair4 b) {
    Pair4 p = two_product4(a.high, b.high);
    EXACT vec4 cross = held4(held4(a.high * b.low) + held4(a.low * b.high));
    return fast_two_sum4(p.high, held4(p.low + cross));
}

Pair4 times_float4(Pair4 a, vec4 b) {
    Pair4 p = two_product4(a.high, b);
    return fast_two_sum4(p.high, held4(p.low + held4(a.low * b)));
}

// a + factor b.
Pair4 add_times4(Pair4 a, vec2 factor, Pair4 b) {
    return add_pairs4(a, times_pair4(Pair4(vec4(factor.x), vec4(factor.y)), b));
}

// The same for (high, low) of one number.
vec2 add_pairs(vec2 a, vec2 b) {
    vec2 s = two_sum(a.x, b.x);
    vec2 t = two_sum(a.y, b.y);
    s = fast_two_sum(s.x, held(s.y + t.x));
    return fast_two_sum(s.x, held(s.y + t.y));
}

vec2 times_pair(vec2 a, vec2 b) {
    vec2 p = two_product(a.x, b.x);
    EXACT float cross = held(held(a.x * b.y) + held(a.y * b.x));
    return fast_two_sum(p.x, held(p.y + cross));
}

// a / b: a quotient of floats, and what is left of a by it.
vec2 divide_pairs(vec2 a, vec2 b) {
    float q = a.x / b.x;
    vec2 rest = add_pairs(a, -times_pair(b, vec2(q, 0.0)));
    return fast_two_sum(q, rest.x / b.x);
}

// Four numbers' sum.
vec2 sum_of_pairs(Pair4 p) {
    return add_pairs(add_pairs(vec2(p.high.x, p.low.x), vec2(p.high.y, p.low.y)),
                     add_pairs(vec2(p.high.z, p.low.z), vec2(p.high.w, p.low.w)));
}

// Two sums a texel, each (high, low).
vec4 add_sums(vec4 a, vec4 b) { return vec4(add_pairs(a.xy, b.xy), add_pairs(a.zw, b.zw)); }
#endif
