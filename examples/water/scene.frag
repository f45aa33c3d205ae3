// A pool under a summer sky, ray by ray: the deck, the water as a height field, and through it tiles with caustics. What
// the water mirrors and lets through follows Fresnel's equations. The pool is [-1, 1]^2 with the water level at 0.
uniform sampler2D surface; // of unpack.frag: height, slopes, light on the floor
uniform vec3 eye;
uniform mat3 camera; // right, up, forward
uniform vec2 half_view; // tangents of half the angles of view
uniform vec2 size; // of the picture in pixels
uniform float cells;
uniform float depth;
uniform vec3 sun; // towards it
out vec4 shown;

const float RIM = 0.10; // of the deck above the water
const float TOP = 0.16; // no wave is higher
const float INDEX = 1.333;
const vec3 SUNLIGHT = vec3(2.5, 2.25, 1.85);
const vec3 SKYLIGHT = vec3(0.50, 0.62, 0.80);
const vec3 ABSORBED = vec3(1.25, 0.36, 0.20); // by a unit of water
const vec3 SCATTERED = vec3(0.006, 0.110, 0.160);

float hash(vec2 p) {
    vec3 q = fract(vec3(p.xyx) * 0.1031);
    q += dot(q, q.yzx + 33.33);
    return fract((q.x + q.y) * q.z);
}

float noise(vec2 p) {
    vec2 i = floor(p), f = fract(p);
    f = f * f * (3.0 - 2.0 * f);
    return mix(mix(hash(i), hash(i + vec2(1, 0)), f.x), mix(hash(i + vec2(0, 1)), hash(i + vec2(1, 1)), f.x), f.y);
}

vec3 sky(vec3 d) {
    float up = max(d.y, 0.0);
    vec3 colour = mix(vec3(0.70, 0.83, 0.95), vec3(0.10, 0.29, 0.66), pow(up, 0.55));
    // Clouds on a plane far above.
    vec2 p = 1.35 * d.xz / (up + 0.16);
    float puffs = 0.55 * noise(p) + 0.27 * noise(2.1 * p + 5.0) + 0.13 * noise(4.3 * p) + 0.05 * noise(9.0 * p);
    float cloud = smoothstep(0.50, 0.78, puffs) * smoothstep(0.02, 0.22, up);
    colour = mix(colour, vec3(1.0, 0.985, 0.965), 0.88 * cloud);
    float towards = max(dot(d, sun), 0.0);
    colour += vec3(1.0, 0.78, 0.48) * (0.30 * pow(towards, 12.0) + 0.9 * pow(towards, 220.0));
    return colour + vec3(60.0, 54.0, 44.0) * smoothstep(0.9990, 0.9996, towards);
}

// The share of a pixel of width w that lies off the joints of a square pattern with period 1.
float paving(vec2 p, float joint, float w) {
    vec2 a = p - 0.5 * w, b = p + 0.5 * w;
    vec2 on = (floor(b) + min(fract(b) / joint, 1.0) * joint - floor(a) - min(fract(a) / joint, 1.0) * joint) / w;
    return (1.0 - clamp(on.x, 0.0, 1.0)) * (1.0 - clamp(on.y, 0.0, 1.0));
}

vec3 tiles(vec2 p, float w) {
    p *= 11.0;
    w = max(11.0 * w, 1e-3);
    float fine = clamp(1.0 - 0.6 * w, 0.0, 1.0);
    float shade = mix(0.5, hash(floor(p)), fine);
    vec3 tile = mix(vec3(0.16, 0.50, 0.66), vec3(0.42, 0.74, 0.84), shade);
    return mix(vec3(0.80, 0.85, 0.85), tile, paving(p, 0.07, w));
}

vec3 deck(vec2 p, float w) {
    vec2 q = 2.0 * p;
    w = max(2.0 * w, 1e-3);
    float fine = clamp(1.0 - 0.5 * w, 0.0, 1.0);
    vec3 stone = mix(vec3(0.40, 0.33, 0.26), vec3(0.52, 0.44, 0.35), mix(0.5, hash(floor(q) + 7.0), fine));
    stone *= 1.0 + 0.16 * fine * (noise(30.0 * p) + 0.6 * noise(75.0 * p) - 0.8);
    return mix(0.62 * stone, stone, paving(q, 0.03, w));
}

vec4 water(vec2 p, float lod) { return textureLod(surface, 0.5 * p + 0.5, lod); }

// Where a ray from inside the pool meets one of its walls.
float to_walls(vec3 from, vec3 d) {
    vec2 t = (1.0 - sign(d.xz) * from.xz) / (abs(d.xz) + 1e-6);
    return min(t.x, t.y);
}

vec2 on_wall(vec3 p) { return abs(p.x) > abs(p.z) ? p.zy : p.xy; }

// A wall above the water, lit by the sky, the sun, and what the water throws up.
vec3 dry_wall(vec3 p, float w) {
    vec3 n = abs(p.x) > abs(p.z) ? vec3(-sign(p.x), 0, 0) : vec3(0, 0, -sign(p.z));
    float light = water(clamp(p.xz * 0.985 + 0.10 * n.xz * (p.y + 0.2), -1.0, 1.0), 4.0).w;
    vec3 lit = 0.55 * SKYLIGHT + SUNLIGHT * max(dot(n, sun), 0.0) * 0.8 + 0.07 * SUNLIGHT * (light - 0.4);
    return mix(vec3(0.70, 0.63, 0.54), tiles(on_wall(p), w), step(p.y, 0.045)) * max(lit, 0.0);
}

// The pool below the surface, as seen along d from a place in the water.
vec3 below(vec3 from, vec3 d, float w) {
    float floor_at = (-depth - from.y) / min(d.y, -1e-3);
    float wall_at = to_walls(from, d);
    float t = min(floor_at, wall_at);
    vec3 p = from + t * d;
    bool on_floor = floor_at < wall_at;
    vec3 n = on_floor ? vec3(0, 1, 0) : abs(p.x) > abs(p.z) ? vec3(-sign(p.x), 0, 0) : vec3(0, 0, -sign(p.z));
    vec3 colour = tiles(on_floor ? p.xz : on_wall(p), w);
    // Up the refracted sunbeam to the surface; where that lies behind a wall, the place is in its shadow.
    vec3 beam = -refract(-sun, vec3(0, 1, 0), 1.0 / INDEX);
    vec2 s = p.xz - p.y * beam.xz / beam.y;
    float inside = smoothstep(1.02, 0.97, max(abs(s.x), abs(s.y)));
    float focus = smoothstep(0.0, 1.0, -p.y / depth);
    float light = mix(1.0, 0.55 * water(s, 0.6).w + 0.45 * water(s, 1.8).w, focus);
    float facing = max(dot(n, beam), 0.0);
    float travelled = t - p.y / beam.y;
    vec3 lit = SUNLIGHT * facing * inside * light * exp(-ABSORBED * (-p.y / beam.y)) + 0.62 * SKYLIGHT * (0.6 + 0.4 * n.y);
    // Corners see less of the sky.
    vec3 walls = 1.0 - abs(vec3(p.x, 1.0, p.z));
    lit *= on_floor ? 0.72 + 0.28 * smoothstep(0.0, 0.35, min(walls.x, walls.z)) : 0.80 + 0.2 * smoothstep(-depth, -0.2 * depth, p.y);
    vec3 through = exp(-ABSORBED * t);
    return colour * lit * through + SCATTERED * (1.0 - exp(-1.1 * t)) * 1.6;
}

vec3 fresnel_mix(vec3 mirrored, vec3 let_through, float c) {
    float g = sqrt(INDEX * INDEX - 1.0 + c * c);
    float a = (g - c) / (g + c), b = (c * (g + c) - 1.0) / (c * (g - c) + 1.0);
    return mix(let_through, mirrored, clamp(0.5 * a * a * (1.0 + b * b), 0.0, 1.0));
}

vec3 look(vec3 d) {
    float pixel = 2.0 * half_view.y / size.y;
    if (d.y > -1e-3) return sky(d);
    float t = (RIM - eye.y) / d.y;
    vec3 p = eye + t * d;
    float w = pixel * t / max(-d.y, 0.15);
    if (max(abs(p.x), abs(p.z)) > 1.0) {
        // A lighter coping around the pool.
        float edge = max(abs(p.x), abs(p.z));
        vec3 stone = edge < 1.09 ? mix(vec3(0.62, 0.57, 0.50), vec3(0.69, 0.65, 0.58), noise(40.0 * p.xz)) : deck(p.xz, w);
        stone *= 1.0 - 0.35 * smoothstep(0.012, 0.0, abs(edge - 1.09));
        vec3 lit = stone * (SUNLIGHT * sun.y * 0.62 + 0.45 * SKYLIGHT);
        return mix(lit, sky(vec3(d.x, 0.0, d.z)), 1.0 - exp(-0.0045 * t * t));
    }
    // Down to the height field: steps from the rim to as far below the level, then a secant.
    float wall_at = to_walls(p, d);
    float low = 0.0, above = p.y - water(p.xz, 1.0).x;
    float stretch = min((RIM + TOP) / -d.y, wall_at);
    bool hit = false;
    for (int i = 1; i <= 14; ++i) {
        float next = stretch * float(i) / 14.0;
        vec3 q = p + next * d;
        float now = q.y - water(q.xz, 0.0).x;
        if (now < 0.0) {
            float at = low + (next - low) * above / (above - now);
            p += at * d;
            t += at;
            hit = true;
            break;
        }
        low = next;
        above = now;
    }
    if (!hit) return dry_wall(p + wall_at * d, w);
    float lod = max(log2(pixel * t / sqrt(max(-d.y, 0.1)) * 0.5 * cells), 0.0);
    vec4 here = water(p.xz, lod);
    p.y = here.x;
    vec3 n = normalize(vec3(-here.y, 1.0, -here.z));
    float c = max(dot(-d, n), 0.02);
    vec3 r = reflect(d, n);
    r.y = max(r.y, 0.02);
    r = normalize(r);
    float up = to_walls(p, r);
    vec3 q = p + up * r;
    vec3 mirrored = q.y < RIM ? dry_wall(q, w) : sky(r);
    vec3 deeper = refract(d, n, 1.0 / INDEX);
    return fresnel_mix(mirrored, below(p, deeper, w), c);
}

void main() {
    vec2 at = 2.0 * gl_FragCoord.xy / size - 1.0;
    vec3 d = normalize(camera[2] + at.x * half_view.x * camera[0] + at.y * half_view.y * camera[1]);
    vec3 colour = look(d);
    colour *= 0.64 * (1.0 - 0.22 * dot(at, at) * 0.5);
    // The curve of films (K. Narkowicz's fit of ACES), then sRGB's.
    colour = clamp(colour * (2.51 * colour + 0.03) / (colour * (2.43 * colour + 0.59) + 0.14), 0.0, 1.0);
    shown = vec4(pow(colour, vec3(1.0 / 2.2)), 1.0);
}
