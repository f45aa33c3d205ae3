// Columns of a stack [Krueger05] 44.2.3 from and to other data, whole texels at a time:
// FROM_MATRIX: texel t of column j = texel (j, t) of a tile in 4x1 columns [Moravanszky03] 2.1, and as it was outside;
// TO_MATRIX: the other way; FROM_VECTOR: all of a column; TO_VECTOR: the other way.
// `origin` is the column and the texel with which the tile begins, counted from the part's first column; for vectors
// the column's place.

#if defined(FROM_MATRIX)
vec4 kernel(ivec2 p) {
    ivec2 unit = p / (tile * unit_tiles);
    ivec2 inside = p - unit * tile * unit_tiles;
    ivec2 lane = inside / tile;
    ivec2 texel = inside - lane * tile;
    int column = (unit.y * across + unit.x) * unit_tiles.x * unit_tiles.y + lane.y * unit_tiles.x + lane.x;
    ivec2 q = ivec2(column, texel.y * tile.x + texel.x) - origin;
    // The first column of another part, or rows past the last.
    if (column >= columns || any(lessThan(q, ivec2(0))) || any(greaterThanEqual(q, x_extent()))) discard;
    return x_at(q);
}
#elif defined(TO_MATRIX)
vec4 kernel(ivec2 p) {
    ivec2 q = p + origin;
    int count = unit_tiles.x * unit_tiles.y;
    int unit = q.x / count;
    int lane = q.x - unit * count;
    ivec2 place = ivec2(unit % across, unit / across) * unit_tiles + ivec2(lane % unit_tiles.x, lane / unit_tiles.x);
    return x_at(place * tile + ivec2(q.y % tile.x, q.y / tile.x));
}
#elif defined(FROM_VECTOR)
vec4 kernel(ivec2 p) {
    ivec2 q = p - origin;
    int t = q.y * tile.x + q.x;
    ivec2 e = x_extent();
    // A texture of the host's folds otherwise, and has no texels past the last.
    return t < e.x * e.y ? x_texel(t) : vec4(0.0);
}
#else
vec4 kernel(ivec2 p) { return x_at(p + origin); }
#endif
