// A shade of grey.
in float shade;
out vec4 colour;

void main() {
    colour = vec4(vec3(shade) * vec3(0.95, 0.97, 1.0), 1.0);
}
