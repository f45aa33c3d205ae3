// The light of a colonnade at sunset, one pixel to a texel: sun 20,000, sky 10, sunlit stone 5, the far shade 0.01. Rays are
// marched through a distance field; the polished floor reflects once.
const vec3 SUN = vec3(0.4954, 0.2035, 0.8445);

float box(vec3 p, vec3 half_size) {
    vec3 q = abs(p) - half_size;
    return length(max(q, 0.0)) + min(max(q.x, max(q.y, q.z)), 0.0);
}

// Distance, and which material: 0 stone, 1 floor, 2 gold, 3 lamp.
vec2 nearest(vec2 a, float d, float material) { return d < a.x ? vec2(d, material) : a; }

vec2 field(vec3 p) {
    vec2 found = vec2(p.y, 1.0);
    float z = clamp(floor(p.z / 3.0 + 0.5), 0.0, 7.0);
    vec3 q = vec3(abs(p.x) - 2.6, p.y, p.z - 3.0 * z);
    // Fluted columns with a base and a capital.
    float angle = atan(q.z, q.x);
    float column = length(q.xz) - 0.34 + 0.014 * cos(16.0 * angle) + 0.02 * p.y / 3.0;
    column = max(column, p.y - 3.1);
    found = nearest(found, 0.9 * column, 0.0);
    found = nearest(found, box(q - vec3(0.0, 0.1, 0.0), vec3(0.5, 0.1, 0.5)) - 0.02, 0.0);
    found = nearest(found, box(q - vec3(0.0, 3.0, 0.0), vec3(0.48, 0.12, 0.48)) - 0.02, 0.0);
    // The roof, open at the far end, and a wall on the left.
    found = nearest(found, box(p - vec3(0.0, 3.5, 9.0), vec3(3.4, 0.35, 12.6)), 0.0);
    found = nearest(found, box(p - vec3(-3.9, 1.5, 9.0), vec3(0.3, 2.0, 12.6)), 0.0);
    found = nearest(found, length(p - vec3(-0.9, 0.55, 4.6)) - 0.55, 2.0);
    found = nearest(found, length(p - vec3(1.0, 0.3, 3.4)) - 0.3, 0.0);
    found = nearest(found, length(p - vec3(-1.6, 1.9, 8.8)) - 0.16, 3.0);
    return found;
}

vec3 sky(vec3 d) {
    float height = max(d.y, 0.0);
    float towards = max(dot(d, SUN), 0.0);
    vec3 light = mix(vec3(7.5, 4.2, 2.2), vec3(0.7, 1.3, 3.0), pow(height, 0.45));
    light += vec3(14.0, 6.0, 2.0) * pow(towards, 24.0) + vec3(120.0, 70.0, 30.0) * pow(towards, 700.0);
    return towards > 0.9993 ? vec3(20000.0, 14000.0, 8000.0) : light;
}

// Where a ray meets something: distance (negative if nowhere) and material.
vec2 march(vec3 from, vec3 d, float longest) {
    float t = 0.02;
    for (int i = 0; i < 110; ++i) {
        vec2 here = field(from + t * d);
        if (here.x < 0.0006 * (1.0 + t)) return vec2(t, here.y);
        t += here.x;
        if (t > longest) break;
    }
    return vec2(-1.0, 0.0);
}

vec3 normal(vec3 p) {
    vec2 e = vec2(0.0015, 0.0);
    float d = field(p).x;
    return normalize(vec3(field(p + e.xyy).x, field(p + e.yxy).x, field(p + e.yyx).x) - d);
}

// How much of the sky a point sees, roughly: how fast the field grows along the normal.
float openness(vec3 p, vec3 n) {
    float share = 1.0;
    for (int i = 1; i <= 4; ++i) {
        float step = 0.22 * float(i);
        share -= (step - field(p + step * n).x) / (1.4 * float(i) * float(i));
    }
    return clamp(share, 0.02, 1.0);
}

// Light from a point towards the ray; its reflectance and normal for the bounce.
vec3 shaded(vec3 p, vec3 d, float material, out vec3 n, out vec3 mirror) {
    n = normal(p);
    mirror = vec3(0.0);
    if (material > 2.5) return vec3(60.0, 34.0, 12.0);
    vec3 albedo = vec3(0.55, 0.5, 0.42);
    float grazing = pow(1.0 - max(dot(n, -d), 0.0), 5.0);
    if (material > 1.5) {
        albedo = vec3(0.04, 0.03, 0.01);
        mirror = vec3(0.95, 0.68, 0.28) + (1.0 - vec3(0.95, 0.68, 0.28)) * grazing;
    } else if (material > 0.5) {
        vec2 tile = floor(p.xz * 1.25);
        bool odd = mod(tile.x + tile.y, 2.0) > 0.5;
        albedo = odd ? vec3(0.32, 0.1, 0.07) : vec3(0.5, 0.46, 0.4);
        mirror = vec3(0.04 + 0.6 * grazing);
    }
    float sun = max(dot(n, SUN), 0.0);
    if (sun > 0.0 && march(p + 0.01 * n, SUN, 40.0).x > 0.0) sun = 0.0;
    vec3 lamp = vec3(-1.6, 1.9, 8.8) - p;
    float glow = max(dot(n, lamp), 0.0) / pow(dot(lamp, lamp) + 0.02, 1.5);
    // Daylight comes in between the columns: less of it the deeper inside.
    float inside = abs(p.x) < 3.3 && p.z < 21.6 && p.y < 3.2 ? 0.012 + 0.2 * exp(-0.24 * (22.0 - p.z)) : 1.0;
    vec3 ambient = vec3(1.6, 1.5, 1.7) * openness(p, n) * inside;
    return albedo * (sun * vec3(13.0, 7.5, 3.6) + ambient + glow * vec3(1.5, 0.85, 0.3));
}

vec3 light(vec3 from, vec3 d) {
    vec3 total = vec3(0.0), share = vec3(1.0);
    for (int bounce = 0; bounce < 3; ++bounce) {
        vec2 hit = march(from, d, 60.0);
        if (hit.x < 0.0) return total + share * sky(d);
        vec3 p = from + hit.x * d, n, mirror;
        vec3 here = shaded(p, d, hit.y, n, mirror);
        total += share * mix(sky(normalize(vec3(d.x, 0.0, d.z))) * 0.8, here, exp(-0.00002 * hit.x * hit.x * hit.x));
        share *= mirror;
        if (max(share.r, max(share.g, share.b)) < 0.01) break;
        from = p + 0.01 * n;
        d = reflect(d, n);
    }
    return total;
}

vec4 kernel(ivec2 p) {
    int pixel = texel_index(p);
    vec2 corner = vec2(float(pixel % size.x), float(pixel / size.x));
    vec3 total = vec3(0.0);
    // Four rays a pixel, no two of them in a row or a column.
    for (int i = 0; i < 4; ++i) {
        vec2 within = (vec2(float(i), float((2 * i + 1 + i / 2) % 4)) + 0.5) / 4.0;
        vec2 screen = (2.0 * (corner + within) - vec2(size)) / float(size.y) * vec2(1.0, -1.0);
        vec3 d = normalize(vec3(screen.x * 0.62 + 0.16, screen.y * 0.62 + 0.03, 1.0));
        total += light(vec3(-0.5, 1.35, -0.6), d);
    }
    return vec4(0.25 * total, 0.0);
}
