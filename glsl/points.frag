// out = the value that the vertex stage gave the point.
flat in vec4 texla_value;
layout(location = 0) out vec4 texla_out0;
void main() { texla_out0 = texla_value; }
