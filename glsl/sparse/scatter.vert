// One vertex for four nonzeros of a row [Krueger05] 44.2.3, 44.3.3: the point lies on the row's texel and carries the
// row's share in the row's lane; blending adds the shares of a row in the order of its vertices. Padding is as in
// gather.frag.
#include "include/prelude.glsl"

void point(int i, out ivec2 texel, out vec4 value) {
    vec4 v = vec4(x_element(columns.x), x_element(columns.y), x_element(columns.z), x_element(columns.w));
    vec4 products = coefficients * where_nonzero(coefficients, v);
    float share = ((products.x + products.y) + products.z) + products.w;
    share = (share * factors.y) * factors.x;
    texel = texel_position(int(row >> 2u));
    value = where_nonzero(vec4(equal(uvec4(row & 3u), uvec4(0u, 1u, 2u, 3u))), vec4(share));
}
