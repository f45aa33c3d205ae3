// Regula falsi for (2 - a - b) x^3 + a x^2 + b x - 1 = 0 on [0, 1], where it is -1 and 1 at the ends [BeyondVector]
// exercise 28.4-1, whose own equation is not legible: a reconstruction. A cell holds the bracket, the polynomial at its newest end, whose sign says which end that is, and the
// steps made so far.
float polynomial(vec2 ab, float x) { return (((2.0 - ab.x - ab.y) * x + ab.x) * x + ab.y) * x - 1.0; }

bool unfinished(ivec2 p, vec4 s) { return abs(s.z) > tolerance; }

vec4 advance(ivec2 p, vec4 s) {
    vec2 ab = pairs_here().xy;
    float low = polynomial(ab, s.x), high = polynomial(ab, s.y);
    float x = (s.x * high - s.y * low) / (high - low);
    float f = polynomial(ab, x);
    return f < 0.0 ? vec4(x, s.y, f, s.w + 1.0) : vec4(s.x, x, f, s.w + 1.0);
}
