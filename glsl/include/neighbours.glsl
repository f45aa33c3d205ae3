// Where the unknowns before and after one lie, for rows of `width` unknowns that follow one another [Goeddeke05].
// SIDE 0: anywhere, by arithmetic; 1: not at an end of a row; 2: at its beginning; 3: at its end.
#ifndef TEXLA_INCLUDE_NEIGHBOURS
#define TEXLA_INCLUDE_NEIGHBOURS
#if SIDE == 0
// The paper's snippet, but for the half: on a device whose division is not exact, floor must not meet whole numbers.
vec2 moved(vec2 q, float by) {
    float z = q.y * width + (q.x + by);
    float y = floor((z + 0.5) / width);
    return vec2(z - width * y, y);
}

vec2 before(vec2 q) { return moved(q, -1.0); }
vec2 after(vec2 q) { return moved(q, 1.0); }
#else
vec2 before(vec2 q) { return q + (SIDE == 2 ? vec2(width - 1.0, -1.0) : vec2(-1.0, 0.0)); }
vec2 after(vec2 q) { return q + (SIDE == 3 ? vec2(1.0 - width, 1.0) : vec2(1.0, 0.0)); }
#endif
#endif
