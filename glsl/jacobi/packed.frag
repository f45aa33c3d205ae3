// A Jacobi sweep with nine bands, four unknowns of a row in a texel, ROWS rows a fragment, each to a target of its own:
// x' = keep x + c - W x, where keep = 1 - omega, c = omega D^-1 b and W = omega D^-1 (A - D). The eight bands of W lie
// side by side in one texture, in the order in which they are read: LL LD LU DL DU UL UD UU, row after row. Those of four
// fragments beside one another are interleaved, as c is: what is fetched together lies together.
struct Line { vec4 before, own, after; };

// Four unknowns of a row and, moved by one, what is before and after each.
Line line(vec4 left, vec4 own, vec4 right) { return Line(vec4(left.w, own.xyz), own, vec4(own.yzw, right.x)); }

Line line0(vec2 c) {
    vec2 e = vec2(x0_step().x, 0.0);
    return line(x0_placed(c - e), x0_placed(c), x0_placed(c + e));
}
#if ROWS > 1
Line line1(vec2 c) {
    vec2 e = vec2(x0_step().x, 0.0);
    return line(x1_placed(c - e), x1_placed(c), x1_placed(c + e));
}
#endif
#if ROWS > 2
Line line2(vec2 c) {
    vec2 e = vec2(x0_step().x, 0.0);
    return line(x2_placed(c - e), x2_placed(c), x2_placed(c + e));
}

Line line3(vec2 c) {
    vec2 e = vec2(x0_step().x, 0.0);
    return line(x3_placed(c - e), x3_placed(c), x3_placed(c + e));
}
#endif
#if ROWS > 4
Line line4(vec2 c) {
    vec2 e = vec2(x0_step().x, 0.0);
    return line(x4_placed(c - e), x4_placed(c), x4_placed(c + e));
}

Line line5(vec2 c) {
    vec2 e = vec2(x0_step().x, 0.0);
    return line(x5_placed(c - e), x5_placed(c), x5_placed(c + e));
}

Line line6(vec2 c) {
    vec2 e = vec2(x0_step().x, 0.0);
    return line(x6_placed(c - e), x6_placed(c), x6_placed(c + e));
}

Line line7(vec2 c) {
    vec2 e = vec2(x0_step().x, 0.0);
    return line(x7_placed(c - e), x7_placed(c), x7_placed(c + e));
}
#endif

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
    return swept(line0(c - up), line0(c), line0(c + up), p, 0.0);
}
#elif ROWS == 2
void kernel(ivec2 p, out vec4 o0, out vec4 o1) {
    vec2 c = x0_place(vec2(p)), up = vec2(0.0, x0_step().y);
    Line a = line0(c), b = line1(c);
    o0 = swept(line1(c - up), a, b, p, 0.0);
    o1 = swept(a, b, line0(c + up), p, 1.0);
}
#elif ROWS == 4
void kernel(ivec2 p, out vec4 o0, out vec4 o1, out vec4 o2, out vec4 o3) {
    vec2 c = x0_place(vec2(p)), up = vec2(0.0, x0_step().y);
    Line a = line0(c), b = line1(c), d = line2(c), f = line3(c);
    o0 = swept(line3(c - up), a, b, p, 0.0);
    o1 = swept(a, b, d, p, 1.0);
    o2 = swept(b, d, f, p, 2.0);
    o3 = swept(d, f, line0(c + up), p, 3.0);
}
#else
void kernel(
    ivec2 p, out vec4 o0, out vec4 o1, out vec4 o2, out vec4 o3, out vec4 o4, out vec4 o5, out vec4 o6, out vec4 o7
) {
    vec2 c = x0_place(vec2(p)), up = vec2(0.0, x0_step().y);
    // Three lines at a time are at hand.
    Line low = line7(c - up), own = line0(c), high = line1(c);
    o0 = swept(low, own, high, p, 0.0);
    low = line2(c);
    o1 = swept(own, high, low, p, 1.0);
    own = line3(c);
    o2 = swept(high, low, own, p, 2.0);
    high = line4(c);
    o3 = swept(low, own, high, p, 3.0);
    low = line5(c);
    o4 = swept(own, high, low, p, 4.0);
    own = line6(c);
    o5 = swept(high, low, own, p, 5.0);
    high = line7(c);
    o6 = swept(low, own, high, p, 6.0);
    low = line0(c + up);
    o7 = swept(own, high, low, p, 7.0);
}
#endif
