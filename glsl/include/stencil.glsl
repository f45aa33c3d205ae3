// The neighbours of a texel's four cells on a grid in natural order: cell (x, y, z) is element x + nx (y + ny z).
//
// cells = (nx, ny, nz, run): run is the number of texels in a row where nx is a multiple of four (ALIGNED), else nx.
// Sides are numbered: 0 low x, 1 high x, 2 low y, 3 high y, 4 low z, 5 high z. What lies behind a side is not fetched
// from elsewhere but said by `open` and `side`, or comes round from the other end where the axis is PERIODIC_.
// Every texel of x that is needed is fetched once (small odd grids and periodic ones not aligned excepted).
#ifndef TEXLA_INCLUDE_STENCIL
#define TEXLA_INCLUDE_STENCIL

// What lies next to the four cells in one direction.
struct Tap {
    vec4 value; // of the neighbours; 0 where there is none
    vec4 open;  // 1 where there is a neighbour
    vec4 side;  // 1 where there is a side of the grid; 0 also at a solid cell
};

// a = q b + r with 0 <= r < b, for a >= 0, exactly: two steps in floats and a last correction. Software rasterisers
// take integers apart to divide them.
void divide(int a, int b, float inverse, out int q, out int r) {
    q = int(float(a) * inverse);
    r = a - q * b;
    int more = int(floor(float(r) * inverse));
    q += more;
    r -= more * b;
    int fix = int(r >= b) - int(r < 0);
    q += fix;
    r -= fix * b;
}

void divide4(ivec4 a, int b, float inverse, out ivec4 q, out ivec4 r) {
    q = ivec4(vec4(a) * inverse);
    r = a - q * b;
    ivec4 more = ivec4(floor(vec4(r) * inverse));
    q += more;
    r -= more * b;
    ivec4 fix = ivec4(greaterThanEqual(r, ivec4(b))) - ivec4(lessThan(r, ivec4(0)));
    q += fix;
    r -= fix * b;
}

// The texels before and after, where they are not carried along.
#ifdef INLINED
#define BEFORE(t) x_before
#define AFTER(t) x_after
#else
#define BEFORE(t) x_shifted((t) - 1)
#define AFTER(t) x_shifted((t) + 1)
#endif

// Where the cells are. ALIGNED: they share y and z, and x counts texels.
#if ALIGNED
struct Place { int t; int x; int y; int z; };

Place place(int t) {
    Place c = Place(t, 0, 0, 0);
    divide(t, cells.w, inverses.x, c.y, c.x);
#if LAYERS
    divide(c.y, cells.y, inverses.y, c.z, c.y);
#endif
    return c;
}

// One of the four cells.
ivec3 cell_of(Place c, int lane) { return ivec3(4 * c.x + lane, c.y, c.z); }

Tap along_row(vec4 value, vec4 lane, bool edge, bool wraps) {
    float inside = edge && !wraps ? 0.0 : 1.0;
    vec4 outside = lane * (1.0 - inside);
    return Tap(value - value * outside, vec4(1.0) - outside, outside);
}

Tap across_rows(vec4 value, bool edge, bool wraps) {
    float inside = edge && !wraps ? 0.0 : 1.0;
    return Tap(value * inside, vec4(inside), vec4(1.0 - inside));
}

bool first_x(Place c) { return c.x == 0; }
bool last_x(Place c) { return c.x == cells.w - 1; }
bool first_y(Place c) { return c.y == 0; }
bool last_y(Place c) { return c.y == cells.y - 1; }

// Of values that are known: the cell's before the texel, after it, and the texels of the rows before and after.
Tap low_x_of(float value, vec4 x0, Place c) {
    return along_row(vec4(value, x0.xyz), vec4(1.0, 0.0, 0.0, 0.0), first_x(c), PERIODIC_X);
}

Tap high_x_of(float value, vec4 x0, Place c) {
    return along_row(vec4(x0.yzw, value), vec4(0.0, 0.0, 0.0, 1.0), last_x(c), PERIODIC_X);
}

Tap low_y_of(vec4 value, Place c) { return across_rows(value, first_y(c), PERIODIC_Y); }
Tap high_y_of(vec4 value, Place c) { return across_rows(value, last_y(c), PERIODIC_Y); }

Tap low_x(vec4 x0, Place c) {
    float behind = PERIODIC_X ? x_shifted(first_x(c) ? c.t + cells.w - 1 : c.t - 1).w : BEFORE(c.t).w;
    return low_x_of(behind, x0, c);
}

Tap high_x(vec4 x0, Place c) {
    float ahead = PERIODIC_X ? x_shifted(last_x(c) ? c.t - cells.w + 1 : c.t + 1).x : AFTER(c.t).x;
    return high_x_of(ahead, x0, c);
}

Tap step_rows(Place c, int stride, int count, bool edge, bool low, bool wraps) {
    int back = wraps && edge ? stride * (count - 1) : -stride;
    return across_rows(x_shifted(low ? c.t + back : c.t - back), edge, wraps);
}

Tap low_y(Place c) { return step_rows(c, cells.w, cells.y, first_y(c), true, PERIODIC_Y); }
Tap high_y(Place c) { return step_rows(c, cells.w, cells.y, last_y(c), false, PERIODIC_Y); }
Tap low_z(Place c) { return step_rows(c, cells.w * cells.y, cells.z, c.z == 0, true, PERIODIC_Z); }
Tap high_z(Place c) { return step_rows(c, cells.w * cells.y, cells.z, c.z == cells.z - 1, false, PERIODIC_Z); }
#else
struct Place { int t; ivec4 x; ivec4 y; ivec4 z; };

Place place(int t) {
    Place c = Place(t, ivec4(0), ivec4(0), ivec4(0));
    divide4(4 * t + ivec4(0, 1, 2, 3), cells.x, inverses.x, c.y, c.x);
#if LAYERS
    divide4(c.y, cells.y, inverses.y, c.z, c.y);
#endif
    return c;
}

ivec3 cell_of(Place c, int lane) { return ivec3(c.x[lane], c.y[lane], c.z[lane]); }

// Four consecutive elements that begin at `residue` in the texel `a` and go on in `b`.
vec4 across(int residue, vec4 a, vec4 b) {
    return residue == 0 ? a : residue == 1 ? vec4(a.yzw, b.x) : residue == 2 ? vec4(a.zw, b.xy) : vec4(a.w, b.xyz);
}

// The elements at a distance, which may lie outside the vector.
vec4 elements(int t, int distance) {
    int first = distance >> 2;
    return across(distance & 3, x_shifted(t + first), x_shifted(t + first + 1));
}

// A neighbour, or at the edge the cell at the other end, `around` elements from here.
Tap tap(int t, vec4 value, bvec4 edge, bool wraps, int around) {
    if (wraps) {
        ivec4 i = 4 * t + ivec4(0, 1, 2, 3) + around;
        if (edge.x) value.x = x_element(uint(i.x));
        if (edge.y) value.y = x_element(uint(i.y));
        if (edge.z) value.z = x_element(uint(i.z));
        if (edge.w) value.w = x_element(uint(i.w));
        return Tap(value, vec4(1.0), vec4(0.0));
    }
    vec4 outside = vec4(edge);
    return Tap(value - value * outside, vec4(1.0) - outside, outside);
}

Tap step_cells(Place c, int stride, int count, bvec4 edge, bool low, bool wraps) {
    int around = stride * (count - 1);
    return tap(c.t, elements(c.t, low ? -stride : stride), edge, wraps, low ? around : -around);
}

Tap low_x(vec4 x0, Place c) {
    vec4 value = vec4(BEFORE(c.t).w, x0.xyz);
    return tap(c.t, value, equal(c.x, ivec4(0)), PERIODIC_X, cells.x - 1);
}

Tap high_x(vec4 x0, Place c) {
    vec4 value = vec4(x0.yzw, AFTER(c.t).x);
    return tap(c.t, value, equal(c.x, ivec4(cells.x - 1)), PERIODIC_X, 1 - cells.x);
}

Tap low_y(Place c) {
    return step_cells(c, cells.x, cells.y, equal(c.y, ivec4(0)), true, PERIODIC_Y);
}

Tap high_y(Place c) {
    return step_cells(c, cells.x, cells.y, equal(c.y, ivec4(cells.y - 1)), false, PERIODIC_Y);
}

Tap low_z(Place c) {
    return step_cells(c, cells.x * cells.y, cells.z, equal(c.z, ivec4(0)), true, PERIODIC_Z);
}

Tap high_z(Place c) {
    return step_cells(c, cells.x * cells.y, cells.z, equal(c.z, ivec4(cells.z - 1)), false, PERIODIC_Z);
}
#endif

// The cells' numbers in the texture of links, at a place `c`.
#if !SOLIDS
#define LINKS ivec4(0)
#elif defined(INLINED)
#define LINKS ivec4(links_texel(c.t))
#else
#define LINKS ivec4(links_here())
#endif

// Links that solid cells close. Bit d of a cell's number: its neighbour in direction d is solid; bit 6: it is itself.
#if SOLIDS
vec4 bit(ivec4 links, int d) { return vec4((links >> d) & 1); }

bvec4 is_solid(ivec4 links) { return greaterThanEqual(links, ivec4(64)); }

Tap linked(Tap tap, ivec4 links, int d) {
    vec4 free = vec4(1.0) - bit(links, d);
    return Tap(tap.value * free, tap.open * free, tap.side);
}
#else
#define linked(tap, links, d) (tap)
#endif
#endif
