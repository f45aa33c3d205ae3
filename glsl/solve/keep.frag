// What a stationary method returns: the newest iterate, unless an earlier test has ended the run, or the newest one has
// found numbers out of range.
#include "include/flags.glsl"

vec4 kernel(ivec2 p) {
    bool ended = last_at(ivec2(0)).x != RUNNING || report_at(ivec2(0)).x == OUT_OF_RANGE;
    return ended ? kept_here() : x_here();
}
