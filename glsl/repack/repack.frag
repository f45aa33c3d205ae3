// y = x in another layout. Each lane finds its element (i, j) by the target's map and fetches it by the source's.
// Layouts: [Moravanszky03] 2.1, [Krueger05] 44.2.2, [Goeddeke05].
#include "include/layout.glsl"

float element(ivec2 p, int c) {
    ivec2 e = layout_element(target_layout, p, c, shape, count, texla_width);
    if (e.x < 0) return 0.0;
    ivec3 q = layout_place(source_layout, e, source_cols, count, x_extent().x);
    return x_at(q.xy)[q.z];
}

vec4 kernel(ivec2 p) {
    return vec4(element(p, 0), element(p, 1), element(p, 2), element(p, 3));
}
