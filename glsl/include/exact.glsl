// Exact floating-point arithmetic: a sum or a product as an unevaluated pair (rounded result, rounding error).
// A compiler that reassociates turns the naive form into zero, so every step is held: by an exclusive-or with a zero
// it cannot see through, or by `precise`. Which of the two is right is found by a self-test when the device is made.
#ifndef TEXLA_INCLUDE_EXACT
#define TEXLA_INCLUDE_EXACT
#if TEXLA_EXACT == 1
float held(float x) { return intBitsToFloat(floatBitsToInt(x) ^ texla_zero); }
#define EXACT
#else
#define held(x) (x)
#define EXACT precise
#endif

// a + b = s.x + s.y exactly (Knuth).
vec2 two_sum(float a, float b) {
    EXACT float s = held(a + b);
    EXACT float t = held(s - a);
    EXACT float e = held(a - held(s - t)) + held(b - t);
    return vec2(s, e);
}

// The same when |a| >= |b| (Dekker).
vec2 fast_two_sum(float a, float b) {
    EXACT float s = held(a + b);
    EXACT float e = held(b - held(s - a));
    return vec2(s, e);
}

// a b = p.x + p.y exactly (Dekker), split by masking the low 12 bits: no factor that could overflow, and all
// partial products have 24 bits or fewer, so that a fused multiply-add changes nothing.
vec2 two_product(float a, float b) {
    float ah = intBitsToFloat(floatBitsToInt(a) & ~0xfff);
    float bh = intBitsToFloat(floatBitsToInt(b) & ~0xfff);
    EXACT float al = held(a - ah);
    EXACT float bl = held(b - bh);
    EXACT float p = held(a * b);
    EXACT float hh = held(ah * bh);
    EXACT float e = held(hh - p);
    e = held(e + held(ah * bl));
    e = held(e + held(al * bh));
    e = held(e + held(al * bl));
    return vec2(p, e);
}

// Double-float s + a b, where a = a.x + a.y: the building block of certified residuals. The error is a few 2^-46
// of the partial sums' magnitude.
vec2 add_product(vec2 s, vec2 a, float b) {
    vec2 p = two_product(a.x, b);
    vec2 t = two_sum(s.x, p.x);
    float low = held(held(s.y + t.y) + held(p.y + held(a.y * b)));
    return fast_two_sum(t.x, low);
}

// The same on four numbers at once: a double-float sum of four lanes, and s + a b for a = ah + al.
struct Sum4 { vec4 high; vec4 low; };

#if TEXLA_EXACT == 1
vec4 held4(vec4 x) { return intBitsToFloat(floatBitsToInt(x) ^ ivec4(texla_zero)); }
#else
#define held4(x) (x)
#endif

Sum4 add_product4(Sum4 s, vec4 ah, vec4 al, vec4 b) {
    vec4 a1 = intBitsToFloat(floatBitsToInt(ah) & ivec4(~0xfff));
    vec4 b1 = intBitsToFloat(floatBitsToInt(b) & ivec4(~0xfff));
    EXACT vec4 a2 = held4(ah - a1);
    EXACT vec4 b2 = held4(b - b1);
    EXACT vec4 p = held4(ah * b);
    EXACT vec4 e = held4(a1 * b1);
    e = held4(e - p);
    e = held4(e + held4(a1 * b2));
    e = held4(e + held4(a2 * b1));
    e = held4(e + held4(a2 * b2));
    EXACT vec4 t = held4(s.high + p);
    EXACT vec4 u = held4(t - s.high);
    EXACT vec4 v = held4(held4(s.high - held4(t - u)) + held4(p - u));
    EXACT vec4 low = held4(held4(s.low + v) + held4(e + held4(al * b)));
    EXACT vec4 high = held4(t + low);
    return Sum4(high, held4(low - held4(high - t)));
}
#endif
