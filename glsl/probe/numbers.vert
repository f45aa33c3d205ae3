// Point i into texel (i mod w, i / w mod h) of a target of w x h texels, with its number for a value.
flat out vec4 value;
void main() {
    ivec2 extent = ivec2(1.0 / inverse_extent + 0.5);
    int i = gl_VertexID;
    vec2 texel = vec2(float(i % extent.x), float(i / extent.x % extent.y));
    gl_Position = vec4((2.0 * texel + 1.0) * inverse_extent - 1.0, 0.0, 1.0);
    gl_PointSize = 1.0;
    value = vec4(float(i));
}
