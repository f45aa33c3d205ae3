// The application's own: the surface in colours, straight from the library's textures. Cell k of a vector is channel
// k % 4 of texel k / 4, and the texels are folded into rows of the texture's width.
uniform sampler2D surface;
uniform sampler2D intensity;
uniform sampler2D largest; // 1x1: the strongest mean intensity, which never left the device
uniform ivec2 grid;
uniform int wall;
uniform ivec4 slits; // two openings in the wall: from, to, from, to
in vec2 at;
out vec4 colour;

float cell(sampler2D x, ivec2 c) {
    int k = c.y * grid.x + c.x;
    int t = k / 4;
    int w = textureSize(x, 0).x;
    vec4 v = texelFetch(x, ivec2(t % w, t / w), 0);
    return v[k - 4 * t];
}

// Troughs in blue, crests in amber, the surface at rest nearly black; brightness follows the height.
vec3 wave_colour(float v) {
    float m = 1.0 - exp(-2.2 * abs(v));
    vec3 crest = mix(vec3(0.90, 0.36, 0.08), vec3(1.0, 0.93, 0.72), m);
    vec3 trough = mix(vec3(0.05, 0.35, 0.75), vec3(0.72, 0.95, 1.0), m);
    return mix(vec3(0.03, 0.045, 0.08), v > 0.0 ? crest : trough, m);
}

void main() {
    ivec2 c = min(ivec2(at * vec2(grid)), grid - 1);
    int screen = grid.x - grid.x / 12; // the strip that shows what a screen there would see
    bool open = (c.y >= slits.x && c.y < slits.y) || (c.y >= slits.z && c.y < slits.w);
    if (c.x >= screen + 3) {
        float seen = cell(intensity, ivec2(screen, c.y)) / cell(largest, ivec2(0));
        vec3 glow = mix(vec3(0.02, 0.03, 0.06), vec3(1.0, 0.86, 0.55), smoothstep(0.0, 1.0, seen));
        colour = vec4(glow, 1.0);
    } else if (c.x >= screen) {
        colour = vec4(0.32, 0.35, 0.42, 1.0);
    } else if (abs(c.x - wall) <= grid.x / 128 && !open) {
        colour = vec4(0.42, 0.45, 0.52, 1.0);
    } else {
        colour = vec4(wave_colour(cell(surface, c)), 1.0);
    }
}
