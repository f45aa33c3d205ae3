// The bodies, an instance for each car: height and pitch are read where the vertex stage has captured them.
in vec2 corner;
uniform int cars;
uniform ivec2 at[5];
uniform vec4 half_window;
layout(std140) uniform state {
    vec4 y[5];
};
flat out int car;

float unknown(int position) {
    vec4 quad = y[position / 4];
    int lane = position - position / 4 * 4;
    return lane == 0 ? quad.x : lane == 1 ? quad.y : lane == 2 ? quad.z : quad.w;
}

void main() {
    car = gl_InstanceID;
    // Motion is drawn larger than it is; the nose is at the right, and goes down for positive pitch.
    float height = half_window.z * unknown(at[car].x);
    float pitch = half_window.z * unknown(at[car].y);
    vec2 turned = vec2(cos(pitch) * corner.x + sin(pitch) * corner.y, cos(pitch) * corner.y - sin(pitch) * corner.x);
    vec2 place = (turned + vec2(0.0, height + half_window.w)) / half_window.xy;
    float lane = 1.0 - (2.0 * float(car) + 1.0) / float(cars);
    gl_Position = vec4(place.x, lane + place.y / float(cars), 0.0, 1.0);
}
