// Where vertex gl_VertexID of an area lies in the viewport. Vertices 0 to 2: a triangle that covers it; 7 to 9 the same,
// nearer. Vertices 3, 4 and 5, 6: a line through the centres of a row or of a column of texels [Goeddeke05]; the
// viewport is then one texel thin and longer than the target, so that no end point decides about a texel.
vec4 texla_corner() {
    int corner = gl_VertexID < 7 ? gl_VertexID : gl_VertexID - 7;
    vec2 triangle = vec2(corner == 1 ? 3.0 : -1.0, corner == 2 ? 3.0 : -1.0);
    float end = (corner & 1) == 1 ? -1.0 : 1.0;
    vec2 line = corner < 5 ? vec2(end, 0.0) : vec2(0.0, end);
    // Depths 0.5 and 0.25 [BeyondVector] 28.4.1.
    return vec4(corner < 3 ? triangle : line, gl_VertexID < 7 ? 0.0 : -0.5, 1.0);
}
