// out = 1: counts how often a texel is touched.
void main() { out0 = vec4(1.0); }
