// Between a grid and the next coarser one: what interpolation is scaled by, and interpolation itself. The fragment lies
// on the finer grid; e is a vector on the coarser one, with coarse = (nx, ny, nz, texels in a row).
#ifndef TEXLA_INCLUDE_TRANSFER
#define TEXLA_INCLUDE_TRANSFER

#if SOLIDS
// Solid cells make every cell its own case.
#define transfer_scale(c) scales_here()
#else
// Factors at the ends of an axis: first cell, last but one, last.
#define ENDS(axis) vec3(ends[3 * axis], ends[3 * axis + 1], ends[3 * axis + 2])

float at_end(int i, int n, vec3 factors) {
    return (i == 0 ? factors.x : 1.0) * (i == n - 2 ? factors.y : 1.0) * (i == n - 1 ? factors.z : 1.0);
}

vec4 at_ends(ivec4 i, int n, vec3 factors) {
    vec4 low = mix(vec4(1.0), vec4(factors.x), equal(i, ivec4(0)));
    vec4 next = mix(vec4(1.0), vec4(factors.y), equal(i, ivec4(n - 2)));
    return low * next * mix(vec4(1.0), vec4(factors.z), equal(i, ivec4(n - 1)));
}

vec4 transfer_scale(Place c) {
    vec4 s = vec4(1.0);
#if ALIGNED
#if COARSE_X
    s *= at_ends(4 * c.x + ivec4(0, 1, 2, 3), cells.x, ENDS(0));
#endif
#if COARSE_Y
    s *= at_end(c.y, cells.y, ENDS(1));
#endif
#if COARSE_Z
    s *= at_end(c.z, cells.z, ENDS(2));
#endif
#else
#if COARSE_X
    s *= at_ends(c.x, cells.x, ENDS(0));
#endif
#if COARSE_Y
    s *= at_ends(c.y, cells.y, ENDS(1));
#endif
#if COARSE_Z
    s *= at_ends(c.z, cells.z, ENDS(2));
#endif
#endif
    return s;
}
#endif

#ifdef INTERPOLATES
// The other coarse cell along an axis, whose share is 1/4; -1 for none. The cell's own is i / 2.
int other(int i, int n, bool wraps) {
    int j = (i >> 1) + ((i & 1) * 2 - 1);
    return j >= 0 && j < n ? j : wraps ? (j < 0 ? n - 1 : 0) : -1;
}

#if FAST_X
// The four coarse cells next to texel k of a finer row, from the coarse row that begins at texel `first`.
vec4 along(int first, int k) {
    int middle = k >> 1;
    bool odd = (k & 1) == 1;
    bool begins = k == 0;
    bool ends = middle == coarse.w - 1 && odd;
    vec4 own = e_shifted(first + middle);
    int next = odd ? (ends ? 0 : middle + 1) : (begins ? coarse.w - 1 : middle - 1);
    vec4 far = e_shifted(first + next);
    far = !PERIODIC_X && (begins || ends) ? vec4(0.0) : far;
    return odd ? vec4(own.yzw, far.x) : vec4(far.w, own.xyz);
}

// The texel's own cells, from the four coarse ones.
vec4 spread(vec4 q) { return 0.75 * q.yyzz + 0.25 * q.xzyw; }

vec4 row(int y, int z, int k) {
    return y < 0 || z < 0 || y >= coarse.y || z >= coarse.z ? vec4(0.0) : along(coarse.w * (y + coarse.y * z), k);
}

vec4 plane(int y, int z, int k) {
#if COARSE_Y
    return 0.75 * row(y >> 1, z, k) + 0.25 * row(other(y, coarse.y, PERIODIC_Y), z, k);
#else
    return row(y, z, k);
#endif
}

vec4 interpolated(Place c) {
#if COARSE_Z
    return spread(0.75 * plane(c.y, c.z >> 1, c.x) + 0.25 * plane(c.y, other(c.z, coarse.z, PERIODIC_Z), c.x));
#else
    return spread(plane(c.y, c.z, c.x));
#endif
}

#if SWEEPS
// What is spread along x, in a finer row and in those before and after it.
struct Lines { vec4 low; vec4 own; vec4 high; };

Lines lines(Place c) {
#if COARSE_Y
    int y = c.y >> 1;
#else
    int y = c.y;
#endif
    vec4 own = row(y, 0, c.x);
    vec4 low = row(PERIODIC_Y && y == 0 ? coarse.y - 1 : y - 1, 0, c.x);
    vec4 high = row(PERIODIC_Y && y == coarse.y - 1 ? 0 : y + 1, 0, c.x);
#if COARSE_Y
    // Three coarse rows hold all that three finer ones need.
    bool odd = (c.y & 1) == 1;
    float t = odd ? 0.75 : 0.25;
    return Lines((1.0 - t) * low + t * own, 0.75 * own + 0.25 * (odd ? high : low), (1.0 - t) * own + t * high);
#else
    return Lines(low, own, high);
#endif
}
#endif
#else
float element(int x, int y, int z) {
    bool inside = x >= 0 && y >= 0 && z >= 0 && x < coarse.x && y < coarse.y && z < coarse.z;
    return inside ? e_element(uint(x + coarse.x * (y + coarse.y * z))) : 0.0;
}

float row(int x, int y, int z) {
#if COARSE_X
    return 0.75 * element(x >> 1, y, z) + 0.25 * element(other(x, coarse.x, PERIODIC_X), y, z);
#else
    return element(x, y, z);
#endif
}

float plane(int x, int y, int z) {
#if COARSE_Y
    return 0.75 * row(x, y >> 1, z) + 0.25 * row(x, other(y, coarse.y, PERIODIC_Y), z);
#else
    return row(x, y, z);
#endif
}

vec4 interpolated(Place c) {
    vec4 value;
    for (int lane = 0; lane < 4; ++lane) {
        ivec3 cell = cell_of(c, lane);
#if COARSE_Z
        value[lane] = 0.75 * plane(cell.x, cell.y, cell.z >> 1)
            + 0.25 * plane(cell.x, cell.y, other(cell.z, coarse.z, PERIODIC_Z));
#else
        value[lane] = plane(cell.x, cell.y, cell.z);
#endif
    }
    return value;
}
#endif
#endif
#endif
