// The cells that a tower may reach: whole ones, so that rounding loses none.
void splat(int i, out vec4 rectangle, out vec4 value) {
    value = attribute0;
    rectangle = vec4(floor(value.xy - value.z), ceil(value.xy + value.z));
}
