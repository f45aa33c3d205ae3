// The layouts of the sources as integer maps: the twins of Layout::place and Layout::element in src/shape/layout.rs.
#ifndef TEXLA_INCLUDE_LAYOUT
#define TEXLA_INCLUDE_LAYOUT
#define FOLDED 0
#define COLUMN4 1
#define BLOCK2X2 2
#define SINGLE 3
#define BATCH4 4

// Where element (i, j) of a matrix with `cols` columns and `len` elements lies: texel x, texel y, channel.
ivec3 layout_place(int layout_, ivec2 e, int cols, int len, int width) {
    if (layout_ == COLUMN4) return ivec3(e.y, e.x / 4, e.x % 4);
    if (layout_ == BLOCK2X2) return ivec3(e.y / 2, e.x / 2, 2 * (e.x % 2) + e.y % 2);
    if (layout_ == SINGLE) return ivec3(e.y, e.x, 0);
    int k = e.x * cols + e.y;
    int quarter = (len + 3) / 4;
    int t = layout_ == FOLDED ? k / 4 : k % quarter;
    return ivec3(t % width, t / width, layout_ == FOLDED ? k % 4 : k / quarter);
}

// Which element lies in channel c of texel p; (-1, -1) for padding lanes.
ivec2 layout_element(int layout_, ivec2 p, int c, ivec2 shape, int len, int width) {
    ivec2 e;
    if (layout_ == COLUMN4) e = ivec2(4 * p.y + c, p.x);
    else if (layout_ == BLOCK2X2) e = ivec2(2 * p.y + c / 2, 2 * p.x + c % 2);
    else if (layout_ == SINGLE) e = c == 0 ? ivec2(p.y, p.x) : ivec2(-1);
    else {
        int t = p.y * width + p.x;
        int quarter = (len + 3) / 4;
        bool none = layout_ == BATCH4 && t >= quarter;
        int k = layout_ == FOLDED ? 4 * t + c : c * quarter + t;
        e = none || k >= len ? ivec2(-1) : ivec2(k / shape.y, k % shape.y);
    }
    bool inside = e.x >= 0 && e.x < shape.x && e.y < shape.y;
    return inside ? e : ivec2(-1);
}
#endif
