// out = the average of four texels of a, by one filtered fetch at their common corner.
void main() { out0 = textureLod(a, 2.0 * gl_FragCoord.xy * inverse_extent, 0.0); }
