// Blocks of a stack of columns `a` [Krueger05] 44.2.3: four columns lie in the tiles of a unit, each a folded vector, and
// units lie side by side, a power of two in each row. TRANSPOSED says whether the stack is read as its transpose.
#ifndef TEXLA_INCLUDE_STACK
#define TEXLA_INCLUDE_STACK

// Four columns of four rows.
struct Block { vec4 c0; vec4 c1; vec4 c2; vec4 c3; };

// The place of a block in two parts, so that loops over units or over texels compute one of them once.
vec2 place_of_unit(int u) { return vec2(u & across.x, u >> across.y) * unit_size; }
vec2 place_of_texel(int t) { return a_place(vec2(t & tile_width.x, t >> tile_width.y)); }

Block block_at(vec2 first) {
    vec4 v0 = a_placed(first + vec2(lanes_x.x, lanes_y.x));
    vec4 v1 = a_placed(first + vec2(lanes_x.y, lanes_y.y));
    vec4 v2 = a_placed(first + vec2(lanes_x.z, lanes_y.z));
    vec4 v3 = a_placed(first + vec2(lanes_x.w, lanes_y.w));
#if TRANSPOSED
    return Block(vec4(v0.x, v1.x, v2.x, v3.x), vec4(v0.y, v1.y, v2.y, v3.y),
                 vec4(v0.z, v1.z, v2.z, v3.z), vec4(v0.w, v1.w, v2.w, v3.w));
#else
    return Block(v0, v1, v2, v3);
#endif
}
#endif
