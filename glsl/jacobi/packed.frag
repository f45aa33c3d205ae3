// A Jacobi sweep with nine bands, four unknowns of a row in a texel, ROWS rows a fragment, each to a target of its own:
// x' = keep x + c - W x, where keep = 1 - omega, c = omega D^-1 b and W = omega D^-1 (A - D). The eight bands of W lie
// side by side in one texture, in the order in which they are read: LL LD LU DL DU UL UD UU, row after row. Those of four
// fragments beside one another are interleaved, as c is: what is fetched together lies together.
struct Line { vec4 before, own, after; };

// Four unknowns of a row and, moved by one, what is before and after each.
Line line(vec4 left, vec4 own, vec4 right) { return Line(vec4(left.w, own.xyz), own, vec4(own.yzw, right.x)); }

// The line at `c` of one of the iterate's textures, whose rows are fetched by `row`.
#define LINE(row, c) line(row((c) - vec2(x0_step().x, 0.0)), row(c), row((c) + vec2(x0_step().x, 0.0)))

// Where the texels of a fragment begin that has `count` of them; the next ones are four further each.
vec2 record(ivec2 p, float count) {
    float first = float(p.x & ~3);
    return vec2(count * first + (float(p.x) - first), float(p.y));
}

vec4 swept(Line low, Line own, Line high, ivec2 p, float row) {
    vec2 e = vec2(4.0 * w_step().x, 0.0);
    vec2 w = w_place(record(p, 8.0 * float(ROWS)) + vec2(32.0 * row, 0.0));
    vec4 sum = w_placed(w) * low.before + w_placed(w + e) * low.own + w_placed(w + 2.0 * e) * low.after
        + w_placed(w + 3.0 * e) * own.before + w_placed(w + 4.0 * e) * own.after
        + w_placed(w + 5.0 * e) * high.before + w_placed(w + 6.0 * e) * high.own + w_placed(w + 7.0 * e) * high.after;
    return keep * own.own + (c_placed(c_place(record(p, float(ROWS)) + vec2(4.0 * row, 0.0))) - sum);
}

#if ROWS == 1
vec4 kernel(ivec2 p) {
    vec2 c = x0_place(vec2(p)), up = vec2(0.0, x0_step().y);
    return swept(LINE(x0_placed, c - up), LINE(x0_placed, c), LINE(x0_placed, c + up), p, 0.0);
}
#elif ROWS == 2
void kernel(ivec2 p, out vec4 o0, out vec4 o1) {
    vec2 c = x0_place(vec2(p)), up = vec2(0.0, x0_step().y);
    Line a = LINE(x0_placed, c), b = LINE(x1_placed, c);
    o0 = swept(LINE(x1_placed, c - up), a, b, p, 0.0);
    o1 = swept(a, b, LINE(x0_placed, c + up), p, 1.0);
}
#elif ROWS == 4
void kernel(ivec2 p, out vec4 o0, out vec4 o1, out vec4 o2, out vec4 o3) {
    vec2 c = x0_place(vec2(p)), up = vec2(0.0, x0_step().y);
    Line a = LINE(x0_placed, c), b = LINE(x1_placed, c), d = LINE(x2_placed, c), f = LINE(x3_placed, c);
    o0 = swept(LINE(x3_placed, c - up), a, b, p, 0.0);
    o1 = swept(a, b, d, p, 1.0);
    o2 = swept(b, d, f, p, 2.0);
    o3 = swept(d, f, LINE(x0_placed, c + up), p, 3.0);
}
#else
void kernel(
    ivec2 p, out vec4 o0, out vec4 o1, out vec4 o2, out vec4 o3, out vec4 o4, out vec4 o5, out vec4 o6, out vec4 o7
) {
    vec2 c = x0_place(vec2(p)), up = vec2(0.0, x0_step().y);
    // Three lines at a time are at hand.
    Line low = LINE(x7_placed, c - up), own = LINE(x0_placed, c), high = LINE(x1_placed, c);
    o0 = swept(low, own, high, p, 0.0);
    low = LINE(x2_placed, c);
    o1 = swept(own, high, low, p, 1.0);
    own = LINE(x3_placed, c);
    o2 = swept(high, low, own, p, 2.0);
    high = LINE(x4_placed, c);
    o3 = swept(low, own, high, p, 3.0);
    low = LINE(x5_placed, c);
    o4 = swept(own, high, low, p, 4.0);
    own = LINE(x6_placed, c);
    o5 = swept(high, low, own, p, 5.0);
    high = LINE(x7_placed, c);
    o6 = swept(low, own, high, p, 6.0);
    low = LINE(x0_placed, c + up);
    o7 = swept(own, high, low, p, 7.0);
}
#endif
