// b = B^T r / 2^k over the k axes that are coarsened: the transpose of interpolation, a window of four cells along each
// axis with weights 1/4, 3/4, 3/4, 1/4 [Krueger05] 44.3.2: a reduction by a smaller viewport.
#include "include/stencil.glsl"

// Position i along an axis of n cells, from one before the first to one past the last, or -1 for none.
int around(int i, int n, bool wraps) { return i >= 0 && i < n ? i : wraps ? (i < 0 ? n - 1 : 0) : -1; }

// Weights of the four cells from 2 X - 1 on, and of a single one where the axis is not coarsened.
float window(int k) { return k == 0 || k == 3 ? 0.125 : 0.375; }

#if FAST_X
// Four coarse cells in a row of the finer grid, which begins at texel `first`; the middle of the window is texel k.
vec4 row(int first, int k) {
    vec4 a = x_shifted(first + k);
    vec4 b = x_shifted(first + k + 1);
    bool begins = k == 0;
    bool ends = k + 2 == fine.w;
    float before = x_shifted(first + (begins ? fine.w - 1 : k - 1)).w;
    float after = x_shifted(first + (ends ? 0 : k + 2)).x;
    before = begins && !PERIODIC_X ? 0.0 : before;
    after = ends && !PERIODIC_X ? 0.0 : after;
    vec4 near = vec4(a.xz, b.xz) + vec4(a.yw, b.yw);
    vec4 far = vec4(before, a.yw, b.y) + vec4(a.z, b.xz, after);
    return 0.375 * near + 0.125 * far;
}
#else
// One coarse cell.
float row(int start, int x) {
#if COARSE_X
    float sum = 0.0;
    for (int k = 0; k < 4; ++k) {
        int i = around(2 * x - 1 + k, fine.x, PERIODIC_X);
        sum += i < 0 ? 0.0 : window(k) * x_element(uint(start + i));
    }
    return sum;
#else
    return x_element(uint(start + x));
#endif
}
#endif

#if COARSE_Y
#define ROWS 4
#else
#define ROWS 1
#endif
#if COARSE_Z
#define SLICES 4
#else
#define SLICES 1
#endif

vec4 kernel(ivec2 p) {
    Place c = place(texel_index(p));
    vec4 total = vec4(0.0);
#if FAST_X
    for (int m = 0; m < SLICES; ++m) {
        int z = SLICES == 4 ? around(2 * c.z - 1 + m, fine.z, PERIODIC_Z) : c.z;
        vec4 slice = vec4(0.0);
        for (int k = 0; k < ROWS; ++k) {
            int y = ROWS == 4 ? around(2 * c.y - 1 + k, fine.y, PERIODIC_Y) : c.y;
            if (y >= 0 && z >= 0) {
                slice += (ROWS == 4 ? window(k) : 1.0) * row(fine.w * (y + fine.y * z), 2 * c.x);
            }
        }
        total += (SLICES == 4 ? window(m) : 1.0) * slice;
    }
#else
    for (int lane = 0; lane < 4; ++lane) {
        ivec3 cell = cell_of(c, lane);
        float sum = 0.0;
        for (int m = 0; m < SLICES; ++m) {
            int z = SLICES == 4 ? around(2 * cell.z - 1 + m, fine.z, PERIODIC_Z) : cell.z;
            for (int k = 0; k < ROWS; ++k) {
                int y = ROWS == 4 ? around(2 * cell.y - 1 + k, fine.y, PERIODIC_Y) : cell.y;
                if (y >= 0 && z >= 0) {
                    float w = (ROWS == 4 ? window(k) : 1.0) * (SLICES == 4 ? window(m) : 1.0);
                    sum += w * row(fine.x * (y + fine.y * z), cell.x);
                }
            }
        }
        total[lane] = sum;
    }
#endif
#if SOLIDS
    return mix(total, vec4(0.0), is_solid(ivec4(links_here())));
#else
    return total;
#endif
}
