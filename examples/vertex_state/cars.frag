// One colour a car.
flat in int car;
out vec4 colour;

void main() {
    vec3 base = car == 0   ? vec3(0.00, 0.38, 0.70)
                : car == 1 ? vec3(0.90, 0.55, 0.00)
                : car == 2 ? vec3(0.00, 0.58, 0.43)
                : car == 3 ? vec3(0.75, 0.35, 0.63)
                           : vec3(0.35, 0.69, 0.89);
    colour = vec4(base, 1.0);
}
