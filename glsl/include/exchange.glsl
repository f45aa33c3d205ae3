// What the other fragments of a quad of 2x2 hold, by derivatives: the one of the two lanes that is not asked for is
// zero, so that the difference is the other one exactly. Derivatives may be coarse; whether these are exact is found by
// a self-test when the device is made. The whole quad has to be covered.
#ifndef TEXLA_INCLUDE_EXCHANGE
#define TEXLA_INCLUDE_EXCHANGE

// v of the horizontal neighbour; `odd` says which lane this is.
vec4 across(vec4 v, bool odd) {
    vec4 from_right = dFdx(odd ? v : vec4(0.0));
    vec4 from_left = dFdx(odd ? vec4(0.0) : v);
    return odd ? -from_left : from_right;
}

// v of the vertical neighbour.
vec4 along(vec4 v, bool odd) {
    vec4 from_above = dFdy(odd ? v : vec4(0.0));
    vec4 from_below = dFdy(odd ? vec4(0.0) : v);
    return odd ? -from_below : from_above;
}
#endif
