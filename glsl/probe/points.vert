// All points into the one texel of a 1x1 target.
in vec4 attribute0;
flat out vec4 value;
void main() {
    gl_Position = vec4(0.0, 0.0, 0.0, 1.0);
    gl_PointSize = 1.0;
    value = attribute0;
}
