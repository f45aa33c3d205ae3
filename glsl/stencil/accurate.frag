// out = alpha A x + beta z in double-float (exact two-sum and two-product), rounded once; A as in product.frag, with
// shift, weights and weights over distances as pairs. alpha and beta are powers of two; so are all of those where POWERS
// says so, or they are zero. PAIRED: x is x + x_low.
#include "include/exact.glsl"
#ifdef PAIRED
// Which part of x is fetched below: known wherever functions are compiled in place.
bool of_low = false;
vec4 part_shifted(int t) { return of_low ? x_low_shifted(t) : x_shifted(t); }
float part_element(uint i) { return of_low ? x_low_element(i) : x_element(i); }
#define x_shifted part_shifted
#define x_element part_element
#endif
#include "include/stencil.glsl"

vec4 scaled(vec4 x) { return scaled4(x, factors); }

#ifdef PAIRED
#define Elements Pair4
Sum4 add_term(Sum4 s, vec4 high, vec4 low, Pair4 b) {
#if POWERS
    return add_exact_pair_product4(s, high, b.high, b.low);
#else
    return add_pair_product4(s, high, low, b.high, b.low);
#endif
}
#define add_difference add_exact_pair_difference4
#else
#define Elements vec4
#if POWERS
Sum4 add_term(Sum4 s, vec4 high, vec4 low, vec4 b) { return add_exact_product4(s, high, b); }
#else
#define add_term add_product4
#endif
#define add_difference add_exact_difference4
#endif

// One of two where there is a neighbour or a side, or zero. Chosen, not multiplied: bounds on errors go by the bits of
// coefficients, of which arithmetic may take those below the normal range for zero.
vec4 of_tap(Tap tap, float weight, float at_side) {
    vec4 beside = mix(vec4(0.0), vec4(at_side), notEqual(tap.side, vec4(0.0)));
    return mix(beside, vec4(weight), notEqual(tap.open, vec4(0.0)));
}

// x0 is scaled, and so is the neighbours' value, which is zero where there is none.
Sum4 add_flux(Sum4 s, Elements x0, Elements value, Tap tap, vec2 weight, vec2 at_side) {
    vec4 high = of_tap(tap, weight.x, at_side.x);
#if POWERS
    return add_difference(s, high, x0, value);
#else
    s = add_term(s, high, of_tap(tap, weight.y, at_side.y), x0);
    return add_term(s, vec4(-weight.x), vec4(-weight.y), value);
#endif
}

// What lies next to the cells in a direction, and its values scaled. All but those is the same for both parts of a pair.
#ifdef PAIRED
#define TAKE(next, d) Tap tap = linked(next(x0.high), links, d); TAKE_LOW(next, d)
#define TAKE_LOW(next, d) of_low = true; Tap rest = linked(next(x0.low), links, d); of_low = false;
#define TAKEN Pair4(scaled(tap.value), scaled(rest.value))
#else
#define TAKE(next, d) Tap tap = linked(next(x0), links, d);
#define TAKEN scaled(tap.value)
#endif
#define ADD_FLUX(next, d, axis) { TAKE(next, d) s = add_flux(s, y0, TAKEN, tap, PAIR(terms, axis), PAIR(at_sides, d)); }
#define LOW_X(x0) low_x(x0, c)
#define HIGH_X(x0) high_x(x0, c)
#define LOW_Y(x0) low_y(c)
#define HIGH_Y(x0) high_y(c)
#define LOW_Z(x0) low_z(c)
#define HIGH_Z(x0) high_z(c)

// Pair k of an array of pairs.
#define PAIR(array, k) vec2(array[2 * k], array[2 * k + 1])

void kernel(ivec2 p, OUT_SUM) {
    Place c = place(texel_index(p));
#ifdef PAIRED
    Pair4 x0 = Pair4(x_here(), x_low_here());
    Pair4 y0 = Pair4(scaled(x0.high), scaled(x0.low));
#else
    vec4 x0 = x_here();
    vec4 y0 = scaled(x0);
#endif
#if SOLIDS
    ivec4 links = ivec4(links_here());
#endif
    Sum4 s = STARTED;
#if SOLIDS
    Sum4 own = add_term(s, vec4(terms[8]), vec4(terms[9]), y0);
#endif
    s = add_term(s, vec4(terms[6]), vec4(terms[7]), y0);
#if AXIS_X
    ADD_FLUX(LOW_X, 0, 0)
    ADD_FLUX(HIGH_X, 1, 0)
#endif
#if AXIS_Y
    ADD_FLUX(LOW_Y, 2, 1)
    ADD_FLUX(HIGH_Y, 3, 1)
#endif
#if AXIS_Z
    ADD_FLUX(LOW_Z, 4, 2)
    ADD_FLUX(HIGH_Z, 5, 2)
#endif
#if SOLIDS
    bvec4 solid = is_solid(links);
    s = chosen4(s, own, solid);
#endif
#if POWERS
    s = settled4(s);
#endif
    WRITE_SUM(s);
}
