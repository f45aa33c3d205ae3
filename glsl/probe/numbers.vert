// Points that do not know their number, which attribute0 holds, meet the one texel of a 1x1 target; the others are clipped.
in vec4 attribute0;
flat out vec4 value;
void main() {
    gl_Position = gl_VertexID == int(attribute0.x) ? vec4(4.0, 4.0, 0.0, 1.0) : vec4(0.0, 0.0, 0.0, 1.0);
    gl_PointSize = 1.0;
    value = attribute0;
}
