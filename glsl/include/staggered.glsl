// A staggered grid [Harlow and Welch 1965]: scalars live at the centres of cells, velocity component a on the faces across
// axis a, of which there is one more along that axis than cells. All are numbered along x first, then y, then z. Past a
// side a velocity goes on as `ghosts` says: value = constant + factor * (the one inside). Scalars go on unchanged.
//
// Around it: DIMENSIONS (2 or 3), HAS_VELOCITY, HAS_F, HAS_G (which fields are inputs), F_AXIS (where f and g live:
// 0, 1, 2 on faces, 3 in cells); the parameters `cells` and `ghosts`.
#ifndef TEXLA_INCLUDE_STAGGERED
#define TEXLA_INCLUDE_STAGGERED

const int U = 0;
const int V = 1;
const int W = 2;
const int F = 3;
const int G = 4;

// One step along an axis; none for 3.
ivec3 along_axis(int axis) { return ivec3(equal(ivec3(axis), ivec3(0, 1, 2))); }

// Where a field lives.
int axis_of(int field) { return field < F ? field : F_AXIS; }

// How many elements it has along each axis.
ivec3 extent_of(int field) { return cells + along_axis(axis_of(field)); }

// The place of element (0, 0, 0), in cells.
vec3 origin_of(int field) { return 0.5 - 0.5 * vec3(along_axis(axis_of(field))); }

// Which element a number stands for: the last one for those past the end. Quotients of floats are put right by one where
// they miss, which integer division would not need, but that is slow on software rasterisers.
ivec2 divided(int e, int n) {
    int q = int(float(e) / float(n));
    int r = e - q * n;
    int miss = r < 0 ? -1 : (r >= n ? 1 : 0);
    return ivec2(q + miss, r - miss * n);
}

ivec3 place_of(int e, ivec3 n) {
#if DIMENSIONS == 3
    ivec2 row = divided(min(e, n.x * n.y * n.z - 1), n.x);
    ivec2 plane = divided(row.x, n.y);
    return ivec3(row.y, plane.y, plane.x);
#else
    ivec2 row = divided(min(e, n.x * n.y - 1), n.x);
    return ivec3(row.y, row.x, 0);
#endif
}

// The element after it.
ivec3 following(ivec3 q, ivec3 n) {
    q.x += 1;
    if (q.x == n.x) q = ivec3(0, q.y + 1, q.z);
    if (q.y == n.y) q = ivec3(q.x, 0, q.z + 1);
    return q;
}

int number_of(ivec3 q, ivec3 n) {
#if DIMENSIONS == 3
    return q.x + n.x * (q.y + n.y * q.z);
#else
    return q.x + n.x * q.y;
#endif
}

// Element `i` of a field; the field is a constant, so that one branch remains.
float element(int field, int i) {
    uint e = uint(i);
#if HAS_VELOCITY
    if (field == U) return u_element(e);
    if (field == V) return v_element(e);
#if DIMENSIONS == 3
    if (field == W) return w_element(e);
#endif
#endif
#if HAS_G
    if (field == G) return g_element(e);
#endif
#if HAS_F
    if (field == F) return f_element(e);
#endif
    return 0.0;
}

// How a velocity goes on past a side: constant and factor; `past` says at which end of the axis, or is zero.
vec2 ghost_of(int component, int axis, int past) {
    int k = 4 * (3 * component + axis);
    if (past < 0) return vec2(ghosts[k], ghosts[k + 1]);
    return past > 0 ? vec2(ghosts[k + 2], ghosts[k + 3]) : vec2(0.0, 1.0);
}

float beyond(int component, int axis, int past, float inside) {
    vec2 ghost = ghost_of(component, axis, past);
    return ghost.x + ghost.y * inside;
}

// The value at `q`, which may lie past a side.
float value_at(int field, ivec3 q) {
    ivec3 n = extent_of(field);
    ivec3 c = clamp(q, ivec3(0), n - 1);
    float value = element(field, number_of(c, n));
    int component = axis_of(field);
    if (component < 3) {
        value = beyond(component, 0, q.x - c.x, value);
        value = beyond(component, 1, q.y - c.y, value);
#if DIMENSIONS == 3
        value = beyond(component, 2, q.z - c.z, value);
#endif
    }
    return value;
}

float between(float a, float b, float r) { return a + r * (b - a); }

float bilinear(int field, ivec3 q, vec2 r) {
    float low = between(value_at(field, q), value_at(field, q + ivec3(1, 0, 0)), r.x);
    float high = between(value_at(field, q + ivec3(0, 1, 0)), value_at(field, q + ivec3(1, 1, 0)), r.x);
    return between(low, high, r.y);
}

// The field at the place of its element `at` and `d` cells further, interpolated linearly in each direction.
float sampled(int field, ivec3 at, vec3 d) {
    vec3 whole = floor(d);
    vec3 r = d - whole;
    ivec3 q = at + ivec3(whole);
#if DIMENSIONS == 3
    return between(bilinear(field, q, r.xy), bilinear(field, q + ivec3(0, 0, 1), r.xy), r.z);
#else
    return bilinear(field, q, r.xy);
#endif
}
#endif
