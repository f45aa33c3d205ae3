// Arithmetic on pairs of floats, as unevaluated sums: what 64 bits would do, to some 46. Sums are settled: the high part is
// the number rounded. Products are not: what is added to something is settled there.
#ifndef TEXLA_INCLUDE_PAIRS
#define TEXLA_INCLUDE_PAIRS
#include "include/exact.glsl"

// a + b: off by less than 2^-46 (|a| + |b|) where both are settled; 2^-45 |b| where b is a product.
Pair4 add_pairs4(Pair4 a, Pair4 b) {
    Pair4 s = two_sum4(a.high, b.high);
    return fast_two_sum4(s.high, held4(s.low + held4(a.low + b.low)));
}

// a b: off by less than 2^-45 of it where both are settled; 2^-44 where one is a product itself.
Pair4 times_pair4(Pair4 a, Pair4 b) {
    Pair4 p = two_product4(a.high, b.high);
    EXACT vec4 cross = held4(held4(a.high * b.low) + held4(a.low * b.high));
    return Pair4(p.high, held4(p.low + cross));
}

Pair4 times_float4(Pair4 a, vec4 b) {
    Pair4 p = two_product4(a.high, b);
    return Pair4(p.high, held4(p.low + held4(a.low * b)));
}

// a + factor b: off by less than 2^-46 |a| + 2^-44 |factor b|.
Pair4 add_times4(Pair4 a, vec2 factor, Pair4 b) {
    return add_pairs4(a, times_pair4(Pair4(vec4(factor.x), vec4(factor.y)), b));
}

// The same for (high, low) of one number.
vec2 add_pairs(vec2 a, vec2 b) {
    vec2 s = two_sum(a.x, b.x);
    return fast_two_sum(s.x, held(s.y + held(a.y + b.y)));
}

// a / b: a quotient of floats, and what is left of a by it.
vec2 divide_pairs(vec2 a, vec2 b) {
    float q = a.x / b.x;
    vec2 p = two_product(b.x, q);
    vec2 rest = add_pairs(a, -vec2(p.x, held(p.y + held(b.y * q))));
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
