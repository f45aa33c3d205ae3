// out = a, fetched by integer coordinates.
void main() { out0 = texelFetch(a, ivec2(gl_FragCoord.xy), 0); }
