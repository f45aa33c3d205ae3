// One step of the Gray-Scott reaction: u' = Du lap u - u v^2 + F (1 - u), v' = Dv lap v + u v^2 - (F + k) v.
// Cell t of a periodic grid is texel t, with u in red and v in green. The grid's width need not be the texture's:
// x_texel(t) finds a cell by its number wherever the vector is folded.
vec4 kernel(ivec2 p) {
    int t = texel_index(p);
    int j = t / columns;
    int i = t - j * columns;
    int left = i == 0 ? columns - 1 : i - 1;
    int right = i + 1 == columns ? 0 : i + 1;
    int row = t - i;
    int below = (j == 0 ? rows - 1 : j - 1) * columns;
    int above = (j + 1 == rows ? 0 : j + 1) * columns;

    vec2 here = x(p).rg;
    vec2 sides = x_texel(row + left).rg + x_texel(row + right).rg + x_texel(below + i).rg + x_texel(above + i).rg;
    vec2 corners = x_texel(below + left).rg + x_texel(below + right).rg + x_texel(above + left).rg
        + x_texel(above + right).rg;
    vec2 laplacian = 0.2 * sides + 0.05 * corners - here;
    float reaction = here.x * here.y * here.y;
    vec2 change = diffusion * laplacian + vec2(feed * (1.0 - here.x) - reaction, reaction - (feed + kill) * here.y);
    return vec4(here + change, 0.0, 0.0);
}
