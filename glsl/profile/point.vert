// What a device profile times to learn what a point takes: one for each texel of the target, in order.
void point(int i, out ivec2 texel, out vec4 value) {
    texel = texel_position(i);
    value = vec4(1.0);
}
