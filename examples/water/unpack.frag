// From the solver's folded vector to a picture that can be filtered [Krueger05] 44.3.4: height, its slopes along x and y,
// and how much the surface bundles light that goes straight down, as curvature: (h, h_x, h_y, h_xx h_yy - h_xy^2 and
// h_xx + h_yy combined at the depth of the floor).
uniform sampler2D displacement; // element x + nx y of the grid, 2^lanes of them a texel
uniform int lanes; // 2 in the solver's vector, 0 where it has been unpacked
uniform ivec2 cells;
uniform float cell; // edge
uniform float bend; // by how far light is shifted on the floor where the slope is 1
out vec4 shown;

float y(ivec2 c) {
    c = clamp(c, ivec2(0), cells - 1);
    int i = c.x + cells.x * c.y;
    int width = textureSize(displacement, 0).x;
    int t = i >> lanes;
    return texelFetch(displacement, ivec2(t % width, t / width), 0)[i - (t << lanes)];
}

void main() {
    ivec2 c = ivec2(gl_FragCoord.xy);
    float here = y(c);
    float w = y(c - ivec2(1, 0)), e = y(c + ivec2(1, 0));
    float s = y(c - ivec2(0, 1)), n = y(c + ivec2(0, 1));
    float xy = y(c + ivec2(1, 1)) + y(c - ivec2(1, 1)) - y(c + ivec2(1, -1)) - y(c + ivec2(-1, 1));
    vec3 second = vec3(w + e - 2.0 * here, s + n - 2.0 * here, 0.25 * xy) / (cell * cell);
    // Light that meets the surface at p reaches the floor at p - bend grad h(p): the area it covers there.
    vec2 stretch = 1.0 - bend * second.xy;
    float area = stretch.x * stretch.y - bend * bend * second.z * second.z;
    float light = 1.0 / max(abs(area), 0.22);
    shown = vec4(here, 0.5 * vec2(e - w, n - s) / cell, light);
}
