// A line through the centres of a row (vertices 0, 1) or of a column (vertices 2, 3) of texels [Goeddeke05]. The
// viewport is one texel thin and longer than the target, so that no end point decides about a texel.
void main() {
    float end = (gl_VertexID & 1) == 0 ? -1.0 : 1.0;
    gl_Position = gl_VertexID < 2 ? vec4(end, 0.0, 0.0, 1.0) : vec4(0.0, end, 0.0, 1.0);
}
