// The bounds of a run, with a threshold that is relative to this square from now on.
vec4 kernel(ivec2 p) {
    vec4 bounds = bounds_at(ivec2(0));
    return vec4(bounds.x * square_value(), bounds.yzw);
}
