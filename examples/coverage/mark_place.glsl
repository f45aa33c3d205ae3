// A mark covers a few pixels around its tower.
void splat(int i, out vec4 rectangle, out vec4 value) {
    value = attribute0;
    rectangle = vec4(floor(value.xy - mark), ceil(value.xy + mark));
}
