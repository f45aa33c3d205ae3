// All of a window of texels: what a stage of a reduction combines ([Krueger05] 44.3.2). The text before it says what a
// texel comes to, vec4 term(ivec2), and how two of these are combined: by COMBINE, from IDENTITY on.
// Texels of a window lie side by side, or SPREAD as far apart as the target is wide and high: fragments side by side then
// read texels side by side, which GPUs fetch faster.
#ifndef TEXLA_INCLUDE_WINDOW
#define TEXLA_INCLUDE_WINDOW

// Before the texels of a row of a window, and before each of them: for terms that share what they fetch.
#ifndef ROW_BEGINS
#define ROW_BEGINS(c)
#define TEXEL_BEGINS(c)
#endif

#if SPREAD
#define APART apart
#else
#define APART ivec2(1)
#endif

// All of a window that may be cut off by an edge.
vec4 cut(ivec2 from, ivec2 to) {
    vec4 total = vec4(IDENTITY);
    for (int j = from.y; j < to.y; j += APART.y) {
        ROW_BEGINS(ivec2(from.x, j))
        for (int i = from.x; i < to.x; i += APART.x) {
            TEXEL_BEGINS(ivec2(i, j))
            total = COMBINE(total, term(ivec2(i, j)));
        }
    }
    return total;
}

#if defined(FILTERED)
// All of a 2x2 window that is whole, by one fetch: four times the average ([BeyondVector] 28.4.2, at its end).
vec4 whole(ivec2 from) {
    return 4.0 * x_average(from);
}
#elif defined(WINDOW)
// All of a small window that is whole: no loop is left once this is unrolled.
vec4 whole(ivec2 from) {
    vec4 total = vec4(IDENTITY);
    for (int j = 0; j < WINDOW.y; ++j) {
        ROW_BEGINS(from + ivec2(0, j) * APART)
        for (int i = 0; i < WINDOW.x; ++i) {
            TEXEL_BEGINS(from + ivec2(i, j) * APART)
            total = COMBINE(total, term(from + ivec2(i, j) * APART));
        }
    }
    return total;
}
#endif

// The window of a texel of the target.
vec4 combined(ivec2 p) {
#if SPREAD
    ivec2 from = p;
#else
    ivec2 from = p * window;
#endif
    ivec2 to = min(from + window * APART, source);
#if !defined(WINDOW)
    return cut(from, to);
#elif EVEN
    return whole(from);
#else
    vec4 total;
    if (all(lessThan(from + (WINDOW - 1) * APART, source))) total = whole(from);
    else total = cut(from, to);
    return total;
#endif
}
#endif
