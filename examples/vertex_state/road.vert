// Road and wheels: places within a lane, in metres, and a shade.
in vec4 vertex;
uniform int cars;
uniform vec4 half_window;
out float shade;

void main() {
    shade = vertex.w;
    vec2 place = vertex.xy / half_window.xy;
    float lane = 1.0 - (2.0 * vertex.z + 1.0) / float(cars);
    gl_Position = vec4(place.x, lane + place.y / float(cars), 0.5, 1.0);
}
