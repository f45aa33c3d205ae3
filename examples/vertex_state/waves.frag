// Flat shading: the normal of the triangle from the derivatives of its place.
in vec3 place;
out vec4 colour;

void main() {
    vec3 normal = normalize(cross(dFdx(place), dFdy(place)));
    normal *= sign(normal.y);
    vec3 sun = normalize(vec3(-0.4, 0.7, 0.35));
    float light = 0.35 + 0.65 * max(dot(normal, sun), 0.0);
    float level = clamp(0.5 + 0.6 * place.y, 0.0, 1.0);
    vec3 water = mix(vec3(0.03, 0.20, 0.42), vec3(0.55, 0.80, 0.88), level);
    colour = vec4(water * light + 0.25 * pow(max(normal.y * light, 0.0), 24.0), 1.0);
}
