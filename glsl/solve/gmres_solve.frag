// y = R⁻¹ g, of the columns that count: each fragment goes back from the last one to its own. The others are zero.
#include "include/rotations.glsl"

vec4 kernel(ivec2 p) {
    int count = int(state_at(ivec2(0)).x);
    int first = 4 * texel_index(p);
    float y[RESTART];
    vec4 own = vec4(0.0);
    for (int i = count - 1; i >= first; --i) {
        float sum = rotation(i).z;
        for (int l = i + 1; l < count; ++l) sum -= factor_at(ivec2(i, l)).x * y[l];
        y[i] = sum / factor_at(ivec2(i)).x;
        if (i < first + 4) own[i - first] = y[i];
    }
    return own;
}
