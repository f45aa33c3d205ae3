// Smoke of two colours in a dark tunnel, lit from the upper left as if it were a relief, and the disc in it.
uniform sampler2D field;
uniform vec2 size;   // of the picture in pixels
uniform vec2 cells;
uniform vec3 disc;   // middle and radius in heights of the tunnel
out vec4 shown;

const vec3 AMBER = vec3(1.00, 0.36, 0.045);
const vec3 BLUE = vec3(0.030, 0.34, 0.95);

// Between cells by cubic B-splines from four linear reads, which hides the grid.
vec4 smoothed(vec2 place) {
    vec2 q = place * cells - 0.5;
    vec2 i = floor(q), f = q - i;
    vec2 w0 = (1.0 - f) * (1.0 - f) * (1.0 - f) / 6.0;
    vec2 w1 = 2.0 / 3.0 - 0.5 * f * f * (2.0 - f);
    vec2 w3 = f * f * f / 6.0;
    vec2 w2 = 1.0 - w0 - w1 - w3;
    vec2 low = w0 + w1, high = w2 + w3;
    vec2 a = (i - 0.5 + w1 / low) / cells, b = (i + 1.5 + w3 / high) / cells;
    return low.y * (low.x * texture(field, vec2(a.x, a.y)) + high.x * texture(field, vec2(b.x, a.y)))
         + high.y * (low.x * texture(field, vec2(a.x, b.y)) + high.x * texture(field, vec2(b.x, b.y)));
}

float height(vec4 v) { return v.x + 0.85 * v.y; }

void main() {
    vec2 place = gl_FragCoord.xy / size;
    vec2 at = place * vec2(size.x / size.y, 1.0);
    vec4 here = smoothed(place);
    vec2 texel = 1.0 / cells;
    float east = height(smoothed(place + vec2(texel.x, 0.0))), west = height(smoothed(place - vec2(texel.x, 0.0)));
    float north = height(smoothed(place + vec2(0.0, texel.y))), south = height(smoothed(place - vec2(0.0, texel.y)));
    vec3 normal = normalize(vec3(west - east, south - north, 0.55));
    vec3 light = normalize(vec3(-0.55, 0.65, 0.55));
    float lit = 0.32 + 0.95 * max(dot(normal, light), 0.0);
    float shine = pow(max(dot(reflect(-light, normal), vec3(0.0, 0.0, 1.0)), 0.0), 24.0);

    vec3 ground = mix(vec3(0.010, 0.013, 0.022), vec3(0.022, 0.030, 0.052), place.y);
    ground += vec3(0.05, 0.02, 0.09) * smoothstep(0.02, 0.30, abs(here.w));
    float thick = here.x + here.y;
    vec3 smoke = (AMBER * here.x + BLUE * here.y) / max(thick, 1.0e-4);
    // Thin smoke is deeper in colour, thick smoke glows.
    smoke = mix(smoke * smoke, 1.1 * smoke + 0.03, smoothstep(0.15, 0.9, thick));
    vec3 colour = mix(ground, smoke * lit, 1.0 - exp(-2.2 * thick)) + 0.16 * shine * smoothstep(0.1, 0.6, thick);

    float rim = (length(at - disc.xy) - disc.z) * size.y;
    colour *= 1.0 - 0.55 * exp(-max(rim, 0.0) / (0.030 * size.y));
    vec2 across = (at - disc.xy) / disc.z;
    vec3 ball = vec3(across, sqrt(max(1.0 - dot(across, across), 0.0)));
    float facing = max(dot(ball, light), 0.0);
    vec3 metal = vec3(0.030, 0.033, 0.042) + vec3(0.20, 0.21, 0.24) * facing
               + vec3(0.9) * pow(max(dot(reflect(-light, ball), vec3(0.0, 0.0, 1.0)), 0.0), 40.0)
               + vec3(0.10, 0.13, 0.20) * pow(1.0 - ball.z, 3.0);
    colour = mix(metal, colour, clamp(rim + 0.5, 0.0, 1.0));
    colour *= 0.85;
    vec2 from_middle = 2.0 * place - 1.0;
    colour *= 1.0 - 0.22 * dot(from_middle, from_middle) * 0.5;
    colour = clamp(colour * (2.51 * colour + 0.03) / (colour * (2.43 * colour + 0.59) + 0.14), 0.0, 1.0);
    shown = vec4(pow(colour, vec3(1.0 / 2.2)), 1.0);
}
