// Every area that texla draws, made from the vertex number alone.
#include "include/corner.glsl"
void main() { gl_Position = vec4(texla_corner(), 0.0, 1.0); }
