// Where vertex gl_VertexID of an area lies in the viewport. Vertices 0 to 2: a triangle that covers it. Vertices 3, 4 and
// 5, 6: a line through the centres of a row or of a column of texels [Goeddeke05]; the viewport is then one texel thin
// and longer than the target, so that no end point decides about a texel.
vec2 texla_corner() {
    vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
    float end = (gl_VertexID & 1) == 1 ? -1.0 : 1.0;
    vec2 line = gl_VertexID < 5 ? vec2(end, 0.0) : vec2(0.0, end);
    return gl_VertexID < 3 ? corner : line;
}
