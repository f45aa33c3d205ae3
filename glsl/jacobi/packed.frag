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

// What lies below the first row of a fragment, and above its last one.
#if ROWS == 1
#define BELOW(c) line0(c)
#elif ROWS == 2
#define BELOW(c) line1(c)
#else
#define BELOW(c) line3(c)
#endif

#if ROWS == 1
vec4 kernel(ivec2 p) {
    vec2 c = x0_place(vec2(p)), up = vec2(0.0, x0_step().y);
    return swept(BELOW(c - up), line0(c), line0(c + up), p, 0.0);
}
#elif ROWS == 2
void kernel(ivec2 p, out vec4 o0, out vec4 o1) {
    vec2 c = x0_place(vec2(p)), up = vec2(0.0, x0_step().y);
    Line first = line0(c), second = line1(c);
    o0 = swept(BELOW(c - up), first, second, p, 0.0);
    o1 = swept(first, second, line0(c + up), p, 1.0);
}
#else
void kernel(ivec2 p, out vec4 o0, out vec4 o1, out vec4 o2, out vec4 o3) {
    vec2 c = x0_place(vec2(p)), up = vec2(0.0, x0_step().y);
    Line first = line0(c), second = line1(c), third = line2(c), fourth = line3(c);
    o0 = swept(BELOW(c - up), first, second, p, 0.0);
    o1 = swept(first, second, third, p, 1.0);
    o2 = swept(second, third, fourth, p, 2.0);
    o3 = swept(third, fourth, line0(c + up), p, 3.0);
}
#endif
