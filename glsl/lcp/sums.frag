// One stage of a reduction within problems: a target texel combines the texels range.x to range.x + range.y - 1 of its
// source, which all belong to problem range.z. With the diagonal D (inverses = D^-1, zero in padding):
// SWEEP    of the sweep from `before` to x, s = x - before, w = A x + b:
//          a = (max natural residual, s.As, As.D^-1 As, s.Ds),  b = (w.s, x.Dx, sum of natural residuals, 0)
// NATURAL  a = (max |min(x, w)|, max |min(Dx, w)|, 0, 0) of any x
// POWER    of a power iteration, w = A x: a = (w.D^-1 w, x.Dx, before.w, x.w_before)
// PAIRS: x is a correction of the pair base + base_low, and w is of both.
// Values that are not finite become larger than any that is: a maximum would pass over NaN.
#define BROKEN 3.3e38

#if defined(SWEEP)
#define COMBINE(s, t) vec4(max((s).x, (t).x), (s).yzw + (t).yzw)
#elif defined(NATURAL)
#define COMBINE(s, t) max(s, t)
#else
#define COMBINE(s, t) ((s) + (t))
#endif

#if defined(FIRST)
float sum4(vec4 v) { return (v.x + v.y) + (v.z + v.w); }
float max4(vec4 v) { return max(max(v.x, v.y), max(v.z, v.w)); }
// By the bits: a compiler may turn a negated comparison round, and that is wrong for NaN.
bool broken(vec4 v) { return any(equal(floatBitsToInt(v) & ivec4(0x7f800000), ivec4(0x7f800000))); }

#ifdef PAIRS
// Not negative; nothing at all at the bound, where the low part is no more than what rounding has left of it.
vec4 corrected(vec4 base, vec4 low, vec4 y) {
    vec4 s = base + y;
    return max(s + low, vec4(0.0)) * vec4(notEqual(s, vec4(0.0)));
}
#endif

#if DIAGONAL
vec4 diagonal(vec4 i4) { return 1.0 / max(i4, vec4(1.0e-37)); }
#endif

void terms(int t, int problem, out vec4 a, out vec4 b) {
    vec4 x4 = x_texel(t);
    vec4 w4 = w_texel(t);
    a = vec4(0.0);
    b = vec4(0.0);
#if DIAGONAL
    vec4 i4 = inverses_texel(t);
    vec4 d4 = diagonal(i4);
#endif
#if defined(POWER)
    a = vec4(sum4((w4 * i4) * w4), sum4((x4 * d4) * x4), sum4(before_texel(t) * w4), sum4(x4 * w_before_texel(t)));
#else
    // goals: (threshold, what one unit of x is in units of w, most sweeps, patience).
    float unit = goals_texel(problem).y;
#ifdef PAIRS
    vec4 all4 = corrected(base_texel(t), base_low_texel(t), x4);
#else
    vec4 all4 = x4;
#endif
    vec4 plain = abs(min(all4 * unit, w4));
    bool lost = broken(x4) || broken(w4);
#if DIAGONAL
    vec4 scaled = abs(min(all4 * d4, w4));
#endif
#if defined(NATURAL)
    a.x = lost ? BROKEN : max4(plain);
#if DIAGONAL
    a.y = lost ? BROKEN : max4(scaled);
#endif
#else
    vec4 s4 = x4 - before_texel(t);
    vec4 as4 = w4 - w_before_texel(t);
#ifdef PAIRS
    // Of what moves: elsewhere w is large beside such steps, and so is what rounding does to it. A principal minor of A has no larger
    // quotient.
    as4 *= vec4(notEqual(s4, vec4(0.0)));
#endif
    vec4 larger = max(plain, scaled);
    a = vec4(lost ? BROKEN : max4(larger), sum4(s4 * as4), sum4((as4 * i4) * as4), sum4((s4 * d4) * s4));
    b = vec4(sum4(w4 * s4), sum4((x4 * d4) * x4), sum4(larger), 0.0);
#endif
#endif
}
#endif

void kernel(ivec2 p, out vec4 a, out vec4 b) {
    ivec3 range = ivec3(ranges_texel(texel_index(p)).xyz);
    a = vec4(0.0);
    b = vec4(0.0);
    for (int k = 0; k < range.y; ++k) {
#if defined(FIRST)
        vec4 next_a;
        vec4 next_b;
        terms(range.x + k, range.z, next_a, next_b);
#else
        vec4 next_a = part_a_texel(range.x + k);
        vec4 next_b = part_b_texel(range.x + k);
#endif
        a = COMBINE(a, next_a);
        b += next_b;
    }
}
