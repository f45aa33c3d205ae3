// A cube of each instance: 36 vertices, numbered by gl_VertexID, six a face.
in vec4 place; // centre, and half the edge
in vec4 rotation; // quaternion, scalar part first
in vec3 paint;
uniform mat4 view;
out vec3 world;
out vec3 local;
out vec3 normal;
out vec3 colour;
flat out int self;

vec3 turn(vec3 v) {
    vec3 axis = rotation.yzw;
    return v + 2.0 * cross(axis, cross(axis, v) + rotation.x * v);
}

void main() {
    int face = gl_VertexID / 6;
    int corner = gl_VertexID % 6;
    // Two triangles, counter-clockwise seen from outside.
    vec2 at = vec2(corner == 1 || corner == 2 || corner == 4, corner == 2 || corner == 4 || corner == 5) * 2.0 - 1.0;
    float side = face < 3 ? 1.0 : -1.0;
    vec3 p = vec3(side, at.x * side, at.y);
    vec3 n = vec3(side, 0.0, 0.0);
    int axis = face % 3;
    local = axis == 0 ? p : axis == 1 ? p.zxy : p.yzx;
    normal = turn(axis == 0 ? n : axis == 1 ? n.zxy : n.yzx);
    world = place.xyz + place.w * turn(local);
    colour = paint;
    self = gl_InstanceID;
    gl_Position = view * vec4(world, 1.0);
}
