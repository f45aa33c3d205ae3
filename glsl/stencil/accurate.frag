// out = alpha A x + beta z in double-float (exact two-sum and two-product), rounded once; A as in product.frag, with
// shift, weights and weights over distances as pairs. alpha and beta are powers of two; so are all of those where POWERS
// says so, or they are zero.
#include "include/exact.glsl"
#include "include/stencil.glsl"

// By a power of two, in two steps: the scale of the matrix alone may leave the range.
vec4 scaled(vec4 x) { return (x * factors.y) * factors.x; }

#if POWERS
Sum4 add_term(Sum4 s, vec4 high, vec4 low, vec4 b) { return add_exact_product4(s, high, b); }
#else
#define add_term add_product4
#endif

// One of two where there is a neighbour or a side, or zero. Chosen, not multiplied: bounds on errors go by the bits of
// coefficients, of which arithmetic may take those below the normal range for zero.
vec4 of_tap(Tap tap, float weight, float at_side) {
    vec4 beside = mix(vec4(0.0), vec4(at_side), notEqual(tap.side, vec4(0.0)));
    return mix(beside, vec4(weight), notEqual(tap.open, vec4(0.0)));
}

// x0 is scaled.
Sum4 add_flux(Sum4 s, vec4 x0, Tap tap, vec2 weight, vec2 at_side) {
    vec4 high = of_tap(tap, weight.x, at_side.x);
#if POWERS
    // Where there is no neighbour, its value is zero.
    return add_exact_difference4(s, high, x0, scaled(tap.value));
#else
    s = add_term(s, high, of_tap(tap, weight.y, at_side.y), x0);
    return add_term(s, vec4(-weight.x), vec4(-weight.y), scaled(tap.value));
#endif
}

// Pair k of an array of pairs.
#define PAIR(array, k) vec2(array[2 * k], array[2 * k + 1])

void kernel(ivec2 p, OUT_SUM) {
    Place c = place(texel_index(p));
    vec4 x0 = x_here();
    vec4 y0 = scaled(x0);
#if SOLIDS
    ivec4 links = ivec4(links_here());
#endif
    Sum4 s = STARTED;
#if SOLIDS
    Sum4 own = add_term(s, vec4(terms[8]), vec4(terms[9]), y0);
#endif
    s = add_term(s, vec4(terms[6]), vec4(terms[7]), y0);
#if AXIS_X
    s = add_flux(s, y0, linked(low_x(x0, c), links, 0), PAIR(terms, 0), PAIR(at_sides, 0));
    s = add_flux(s, y0, linked(high_x(x0, c), links, 1), PAIR(terms, 0), PAIR(at_sides, 1));
#endif
#if AXIS_Y
    s = add_flux(s, y0, linked(low_y(c), links, 2), PAIR(terms, 1), PAIR(at_sides, 2));
    s = add_flux(s, y0, linked(high_y(c), links, 3), PAIR(terms, 1), PAIR(at_sides, 3));
#endif
#if AXIS_Z
    s = add_flux(s, y0, linked(low_z(c), links, 4), PAIR(terms, 2), PAIR(at_sides, 4));
    s = add_flux(s, y0, linked(high_z(c), links, 5), PAIR(terms, 2), PAIR(at_sides, 5));
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
