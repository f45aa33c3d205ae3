// The application's own: a rectangle from a vertex buffer.
in vec2 corner;
out vec2 at;
void main() {
    at = 0.5 * corner + 0.5;
    gl_Position = vec4(corner, 0.0, 1.0);
}
