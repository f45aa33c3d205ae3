// Every area that texla draws, made from the vertex number alone.
#include "include/corner.glsl"
void main() { gl_Position = texla_corner(); }
