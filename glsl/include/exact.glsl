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

// The same on four numbers at once: sums of four lanes, and s + a b for a = ah + al. They have two parts, or with TRIPLE
// three.
struct Pair4 { vec4 high; vec4 low; };
#ifdef TRIPLE
struct Sum4 { vec4 high; vec4 low; vec4 rest; };
#define STARTED Sum4(START_HIGH, START_LOW, START_REST)
#define OUT_SUM out vec4 high, out vec4 low, out vec4 rest
#define WRITE_SUM(s) high = s.high; low = s.low; rest = s.rest
Sum4 chosen4(Sum4 a, Sum4 b, bvec4 second) {
    return Sum4(mix(a.high, b.high, second), mix(a.low, b.low, second), mix(a.rest, b.rest, second));
}
#else
struct Sum4 { vec4 high; vec4 low; };
#define STARTED Sum4(START_HIGH, START_LOW)
#define OUT_SUM out vec4 high, out vec4 low
#define WRITE_SUM(s) high = s.high; low = s.low
Sum4 chosen4(Sum4 a, Sum4 b, bvec4 second) {
    return Sum4(mix(a.high, b.high, second), mix(a.low, b.low, second));
}
#endif

#if TEXLA_EXACT == 1
vec4 held4(vec4 x) { return intBitsToFloat(floatBitsToInt(x) ^ ivec4(texla_zero)); }
#else
#define held4(x) (x)
#endif

// By a power of two, in two steps: the scale of a matrix alone may leave the range. Held, or a compiler may multiply by a small
// coefficient first, and lose below the range what a large factor brings back.
vec4 scaled4(vec4 x, vec2 factors) {
    EXACT vec4 once = held4(x * factors.y);
    EXACT vec4 twice = held4(once * factors.x);
    return twice;
}

#ifdef BOUND
// In place of the sum its magnitude, |s| + |a b|, and in place of the low part a bound on the error of all steps so far:
// one errs by less than 3 2^-46 of the magnitude reached, and 2^-44 of that leaves room for rounding here. With three parts
// (FINE) it is less than 2^-67: adding a float times b rounds where last parts gather, twice, each at most 3 2^-47, which is
// 11 2^-72 together, and a is two floats; 2^-66 is the bound. What falls below the range of floats is lost besides: parts of
// the product and b before it came here, for which 2^-122 is more than enough; and low parts of a, for which 2^-122 |b| is. These
// are the remainders of 53 bits: of an a of 2^-70 and more none is below the range.
// A coefficient that is zero costs nothing.
#ifdef FINE
#define STEP 1.3552527156068805e-20
#else
#define STEP 5.684341886080802e-14
#endif
Sum4 add_product4(Sum4 s, vec4 ah, vec4 al, vec4 b) {
    vec4 product = abs(ah * b);
    vec4 magnitude = abs(s.high) + product;
    vec4 small = vec4(lessThan(abs(ah), vec4(8.470329472543003e-22)));
    vec4 error = magnitude * STEP + (1.0 + abs(b) * small) * 1.880790961315660e-37;
    // What is lost of a b below 2^-102 meets coefficients of up to 2^60: 2^-125 of those is more. Least squares may weigh it.
    error += abs(ah) * 2.350988701644575e-38 * vec4(lessThan(abs(b), vec4(1.9721522630525295e-31)));
    return Sum4(magnitude, s.low + error * vec4(notEqual(floatBitsToInt(ah) << 1, ivec4(0))));
}

Sum4 add_pair4(Sum4 s, vec4 high, vec4 low) {
    Sum4 next = add_product4(s, high, vec4(0.0), vec4(1.0));
    return Sum4(next.high, next.low + low);
}
Sum4 add_float_product4(Sum4 s, vec4 a, vec4 b) { return add_product4(s, a, vec4(0.0), b); }
Sum4 add_exact_product4(Sum4 s, vec4 a, vec4 b) { return add_float_product4(s, a, b); }
Sum4 add_exact_difference4(Sum4 s, vec4 a, vec4 b, vec4 c) {
    return add_exact_product4(add_exact_product4(s, a, b), a, c);
}
Sum4 settled4(Sum4 s) { return s; }
#define ONE_BY_ONE
#else
// The two sums above on four lanes.
Pair4 two_sum4(vec4 a, vec4 b) {
    EXACT vec4 s = held4(a + b);
    EXACT vec4 t = held4(s - a);
    EXACT vec4 e = held4(held4(a - held4(s - t)) + held4(b - t));
    return Pair4(s, e);
}

Pair4 fast_two_sum4(vec4 a, vec4 b) {
    EXACT vec4 s = held4(a + b);
    EXACT vec4 e = held4(b - held4(s - a));
    return Pair4(s, e);
}

Pair4 two_product4(vec4 a, vec4 b) {
    vec4 a1 = intBitsToFloat(floatBitsToInt(a) & ivec4(~0xfff));
    vec4 b1 = intBitsToFloat(floatBitsToInt(b) & ivec4(~0xfff));
    EXACT vec4 a2 = held4(a - a1);
    EXACT vec4 b2 = held4(b - b1);
    EXACT vec4 p = held4(a * b);
    EXACT vec4 e = held4(a1 * b1);
    e = held4(e - p);
    e = held4(e + held4(a1 * b2));
    e = held4(e + held4(a2 * b1));
    e = held4(e + held4(a2 * b2));
    return Pair4(p, e);
}

#ifdef TRIPLE
// s + p: nothing is lost but in the last part, which is 2^-48 of what has been reached.
Sum4 add_exactly4(Sum4 s, Pair4 p) {
    Pair4 t = two_sum4(s.high, p.high);
    Pair4 u = two_sum4(s.low, t.low);
    Pair4 v = two_sum4(u.high, p.low);
    Pair4 first = two_sum4(t.high, v.high);
    EXACT vec4 lost = held4(s.rest + held4(u.low + v.low));
    Pair4 second = two_sum4(first.low, lost);
    return Sum4(first.high, second.high, second.low);
}

Sum4 add_float_product4(Sum4 s, vec4 a, vec4 b) { return add_exactly4(s, two_product4(a, b)); }
Sum4 add_product4(Sum4 s, vec4 ah, vec4 al, vec4 b) {
    return add_float_product4(add_float_product4(s, ah, b), al, b);
}

// The same for factors that are powers of two or zero: nothing of the product is left.
Sum4 add_exact_product4(Sum4 s, vec4 a, vec4 b) { return add_exactly4(s, Pair4(held4(a * b), vec4(0.0))); }

// s + a b - a c, for such a factor.
Sum4 add_exact_difference4(Sum4 s, vec4 a, vec4 b, vec4 c) {
    return add_exactly4(s, two_sum4(held4(a * b), held4(-a * c)));
}

Sum4 settled4(Sum4 s) { return s; }
#define ONE_BY_ONE
#else
Sum4 add_product4(Sum4 s, vec4 ah, vec4 al, vec4 b) {
    Pair4 p = two_product4(ah, b);
    Pair4 t = two_sum4(s.high, p.high);
    Pair4 sum = fast_two_sum4(t.high, held4(held4(s.low + t.low) + held4(p.low + held4(al * b))));
    return Sum4(sum.high, sum.low);
}

Sum4 add_float_product4(Sum4 s, vec4 a, vec4 b) { return add_product4(s, a, vec4(0.0), b); }

// The same for factors that are powers of two or zero: nothing of the product is left. Low parts gather, and are settled in
// the end. Up to a dozen such steps err by less than what BOUND has for them: of low parts, each at most 2^-24 of what has
// been reached and rounded where they gather.
Sum4 add_exact_product4(Sum4 s, vec4 a, vec4 b) {
    Pair4 t = two_sum4(s.high, held4(a * b));
    return Sum4(t.high, held4(s.low + t.low));
}

// s + a b - a c, for such a factor.
Sum4 add_exact_difference4(Sum4 s, vec4 a, vec4 b, vec4 c) {
    Pair4 d = two_sum4(held4(a * b), held4(-a * c));
    Pair4 t = two_sum4(s.high, d.high);
    return Sum4(t.high, held4(s.low + held4(t.low + d.low)));
}

// The high part is the sum rounded.
Sum4 settled4(Sum4 s) {
    Pair4 t = two_sum4(s.high, s.low);
    return Sum4(t.high, t.low);
}

// The same with pairs b + b_low, where b_low is 2^-24 of b: its product with the high part, rounded, joins low parts.
Sum4 add_pair_product4(Sum4 s, vec4 ah, vec4 al, vec4 b, vec4 b_low) {
    Pair4 p = two_product4(ah, b);
    Pair4 t = two_sum4(s.high, p.high);
    vec4 crossed = held4(held4(al * b) + held4(ah * b_low));
    Pair4 sum = fast_two_sum4(t.high, held4(held4(s.low + t.low) + held4(p.low + crossed)));
    return Sum4(sum.high, sum.low);
}

Sum4 add_exact_pair_product4(Sum4 s, vec4 a, vec4 b, vec4 b_low) {
    Pair4 t = two_sum4(s.high, held4(a * b));
    return Sum4(t.high, held4(s.low + held4(t.low + held4(a * b_low))));
}

Sum4 add_exact_pair_difference4(Sum4 s, vec4 a, Pair4 b, Pair4 c) {
    Pair4 d = two_sum4(held4(a * b.high), held4(-a * c.high));
    Pair4 t = two_sum4(s.high, d.high);
    vec4 low = held4(a * held4(b.low - c.low));
    return Sum4(t.high, held4(s.low + held4(held4(t.low + d.low) + low)));
}
#endif

// s + (high + low): a factor of one is exact.
Sum4 add_pair4(Sum4 s, vec4 high, vec4 low) { return add_product4(s, high, low, vec4(1.0)); }
#endif

#ifdef ONE_BY_ONE
// With pairs b + b_low, as products with one and with the other.
Sum4 add_pair_product4(Sum4 s, vec4 ah, vec4 al, vec4 b, vec4 b_low) {
    return add_product4(add_product4(s, ah, al, b), ah, al, b_low);
}
Sum4 add_exact_pair_product4(Sum4 s, vec4 a, vec4 b, vec4 b_low) {
    return add_exact_product4(add_exact_product4(s, a, b), a, b_low);
}
Sum4 add_exact_pair_difference4(Sum4 s, vec4 a, Pair4 b, Pair4 c) {
    return add_exact_difference4(add_exact_difference4(s, a, b.high, c.high), a, b.low, c.low);
}
#endif

// s + factors.x factors.y a b, factors.y > 0, for coefficients of any size, which nothing has brought near 1: their powers
// of two go over to the other factor, so that halves of them do not vanish below the range.
vec4 unit_of(ivec4 bits) { return intBitsToFloat((bits & ivec4(~0x7f800000)) | ivec4(0x3f800000)); }

// That other factor, first by what brings b nearer to 1.
vec4 with_power(vec4 b, ivec4 power, vec2 factors) {
    vec4 large = max(intBitsToFloat(power), vec4(factors.y));
    vec4 small = min(intBitsToFloat(power), vec4(factors.y));
    bvec4 up = lessThan(abs(b), vec4(1.0));
    return ((b * mix(small, large, up)) * mix(large, small, up)) * factors.x;
}

Sum4 add_scaled_product4(Sum4 s, vec4 a, vec4 b, vec2 factors) {
    ivec4 bits = floatBitsToInt(a);
    ivec4 power = bits & ivec4(0x7f800000);
#ifdef BOUND
    // Sums take what is below the normal range for zero: it is all error, of less than the smallest normal number.
    ivec4 lost = ivec4(equal(power, ivec4(0))) * ivec4(notEqual(bits << 1, ivec4(0)));
    power += lost * 0x00800000;
#endif
    vec4 other = with_power(b, power, factors);
    bvec4 none = equal(power, ivec4(0));
#ifdef BOUND
    Sum4 next = add_float_product4(s, mix(unit_of(bits), vec4(0.0), none), mix(other, vec4(0.0), none));
    next.low += abs(other) * vec4(lost);
    return next;
#else
    return add_float_product4(s, unit_of(bits), mix(other, vec4(0.0), none));
#endif
}

Sum4 add_scaled_pair_product4(Sum4 s, vec4 a, vec4 b, vec4 b_low, vec2 factors) {
#ifdef ONE_BY_ONE
    return add_scaled_product4(add_scaled_product4(s, a, b, factors), a, b_low, factors);
#else
    ivec4 bits = floatBitsToInt(a);
    ivec4 power = bits & ivec4(0x7f800000);
    bvec4 none = equal(power, ivec4(0));
    vec4 other = mix(with_power(b, power, factors), vec4(0.0), none);
    vec4 other_low = mix(with_power(b_low, power, factors), vec4(0.0), none);
    return add_pair_product4(s, unit_of(bits), vec4(0.0), other, other_low);
#endif
}
#endif
