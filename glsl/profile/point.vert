// What a device profile times to learn what a point takes: eight for a texel, as those of the rows of a sparse matrix meet.
void point(int i, out ivec2 texel, out vec4 value) {
    texel = texel_position(i >> 3);
    value = vec4(1.0);
}
