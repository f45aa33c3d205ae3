// out = the point's value.
flat in vec4 value;
void main() { out0 = value; }
