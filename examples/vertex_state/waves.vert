// A node of the surface: its height is an attribute that reads what the vertex stage has captured.
in float height;
in vec2 node;
uniform float nodes;
uniform float aspect;
uniform float turn;
out vec3 place;

void main() {
    vec2 flat_place = 2.0 * node / (nodes - 1.0) - 1.0;
    place = vec3(flat_place.x, 0.55 * height, flat_place.y);
    vec3 turned = vec3(cos(turn) * place.x - sin(turn) * place.z, place.y, sin(turn) * place.x + cos(turn) * place.z);
    // From 32 degrees above, at a distance of 3.6.
    float s = 0.53;
    float c = 0.848;
    vec3 seen = vec3(turned.x, c * turned.y - s * turned.z, s * turned.y + c * turned.z);
    float away = 3.6 - seen.z;
    gl_Position = vec4(2.35 * seen.x / aspect, 2.35 * seen.y, (away - 3.6) * 0.2 * away, away);
}
