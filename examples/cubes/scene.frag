// Shaded cubes on a floor: a sun with soft shadows, light from the sky that other cubes keep away, rounded edges.
in vec3 world;
in vec3 local;
in vec3 normal;
in vec3 colour;
flat in int self;
uniform vec3 eye;
uniform vec3 sun; // towards it
uniform mat4 sun_view;
uniform sampler2DShadow shadow;
uniform vec4 balls[64]; // the cubes as balls: centre and radius
uniform int count; // of cubes; what comes after them is the floor
out vec4 shown;

const vec3 SKY = vec3(0.52, 0.64, 0.84);
const vec3 HORIZON = vec3(0.86, 0.89, 0.93);

// How much of the sun is seen from here: a disc of 16 places in the map, each a smooth comparison.
float sunlight(vec3 n) {
    vec4 at = sun_view * vec4(world + 0.03 * n, 1.0);
    vec3 p = 0.5 * at.xyz / at.w + 0.5;
    if (any(greaterThan(abs(p - 0.5), vec3(0.5)))) return 1.0;
    float lit = 0.0;
    for (int i = 0; i < 16; ++i) {
        float angle = 2.39996 * float(i);
        vec2 step = sqrt((float(i) + 0.5) / 16.0) * vec2(cos(angle), sin(angle)) / 900.0;
        lit += texture(shadow, vec3(p.xy + step, p.z - 0.0006));
    }
    return lit / 16.0;
}

// How much of the sky is seen from here. A ball of radius r in direction d hides cos(n, d) r^2 / d^2 of it.
float skylight(vec3 n) {
    float seen = 1.0;
    for (int i = 0; i < count; ++i) {
        if (i == self) continue;
        vec3 d = balls[i].xyz - world;
        float r = balls[i].w;
        float d2 = max(dot(d, d), r * r);
        if (d2 > 36.0 * r * r) continue;
        // Shifted, so that a ball that is cut by the horizon still counts a little.
        float facing = clamp((dot(n, d) + 0.35 * r) / (sqrt(d2) + 0.35 * r), 0.0, 1.0);
        seen *= 1.0 - 0.8 * facing * r * r / d2;
    }
    return seen;
}

void main() {
    bool floor_here = self == count;
    vec3 n = normalize(normal);
    vec3 base = colour;
    if (floor_here) {
        // Slabs of two edges, with thin joints that fade in the distance.
        vec2 slab = abs(fract(world.xz / 2.0) - 0.5);
        float joint = smoothstep(0.485, 0.495, max(slab.x, slab.y));
        base *= 1.0 - 0.10 * joint * exp(-0.02 * distance(world, eye));
    } else {
        // Edges: a darker line, as if rounded.
        vec3 inner = 1.0 - abs(local);
        float nearest = min(max(inner.x, inner.y), min(max(inner.y, inner.z), max(inner.x, inner.z)));
        base *= mix(0.62, 1.0, smoothstep(0.015, 0.06, nearest));
    }
    vec3 to_eye = normalize(eye - world);
    float facing = dot(n, sun);
    float lit = facing > 0.0 ? sunlight(n) * facing : 0.0;
    vec3 sky = mix(vec3(0.30, 0.28, 0.27), SKY, 0.5 + 0.5 * n.y) * skylight(n);
    float shine = floor_here ? 0.0 : pow(max(dot(n, normalize(sun + to_eye)), 0.0), 40.0);
    vec3 light = base * (0.75 * sky + 1.36 * vec3(1.0, 0.92, 0.78) * lit) + 0.12 * shine * lit;
    if (floor_here) {
        light = mix(HORIZON * HORIZON, light, exp(-pow(distance(world, eye) / 38.0, 4.0)));
    }
    shown = vec4(pow(light, vec3(1.0 / 2.2)), 1.0);
}
