// From the fluid's folded vectors to a picture that can be filtered [Krueger05] 44.3.4: amber, blue, the speed, and the
// vorticity times the cell size.
uniform sampler2D amber; // four elements a texel: element x + nx y of the grid
uniform sampler2D blue;
uniform sampler2D along; // velocity on faces: nx + 1 a row
uniform sampler2D up;    // nx a row, one row more
uniform ivec2 cells;
out vec4 shown;

float at(sampler2D field, ivec2 c, ivec2 n) {
    c = clamp(c, ivec2(0), n - 1);
    int i = c.x + n.x * c.y;
    int width = textureSize(field, 0).x;
    int t = i >> 2;
    return texelFetch(field, ivec2(t % width, t / width), 0)[i & 3];
}

vec2 velocity(ivec2 c) {
    ivec2 of_u = cells + ivec2(1, 0), of_v = cells + ivec2(0, 1);
    return 0.5 * vec2(at(along, c, of_u) + at(along, c + ivec2(1, 0), of_u),
                      at(up, c, of_v) + at(up, c + ivec2(0, 1), of_v));
}

void main() {
    ivec2 c = ivec2(gl_FragCoord.xy);
    float turn = velocity(c + ivec2(1, 0)).y - velocity(c - ivec2(1, 0)).y
               - velocity(c + ivec2(0, 1)).x + velocity(c - ivec2(0, 1)).x;
    shown = vec4(at(amber, c, cells), at(blue, c, cells), length(velocity(c)), 0.5 * turn);
}
