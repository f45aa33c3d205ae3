// Nothing: the rasteriser is off while vertices are captured, but OpenGL ES links no program without this stage.
void main() {}
