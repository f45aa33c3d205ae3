// The scene as a camera sees it: the square in the light of the photons, and the glass sphere, ray by ray, nine to a pixel.
const float FAR = 1e9;

vec3 background(vec3 d) {
    vec3 dusk = mix(vec3(0.085, 0.105, 0.165), vec3(0.010, 0.013, 0.030), smoothstep(0.0, 0.75, abs(d.z)));
    return dusk + vec3(0.20, 0.090, 0.030) * exp(-90.0 * (d.z - 0.03) * (d.z - 0.03));
}

vec3 texel_of_square(ivec2 q) {
    ivec2 c = clamp(q, ivec2(0), ivec2(side - 1));
    return density_texel(c.y * side + c.x).rgb;
}

vec3 irradiance(vec2 at) {
    vec2 q = (0.5 * at + 0.5) * float(side) - 0.5;
    ivec2 i = ivec2(floor(q));
    vec2 f = q - floor(q);
    vec3 low = mix(texel_of_square(i), texel_of_square(i + ivec2(1, 0)), f.x);
    vec3 high = mix(texel_of_square(i + ivec2(0, 1)), texel_of_square(i + ivec2(1, 1)), f.x);
    return mix(low, high, f.y);
}

// What a ray past the sphere meets: the square, white paper with some light from all around, or nothing.
vec3 surroundings(vec3 from, vec3 d, bool mirrored) {
    if (d.z * from.z < 0.0) {
        vec2 at = from.xy - from.z / d.z * d.xy;
        if (max(abs(at.x), abs(at.y)) < 1.0) {
            if (from.z < 0.0) return vec3(0.02);
            vec3 to = centre - vec3(at, 0.0);
            float distance2 = dot(to, to);
            float hidden = to.z * radius * radius / (distance2 * sqrt(distance2));
            return vec3(0.93, 0.90, 0.86) * (0.95 * irradiance(at) + 0.075 * (1.0 - 0.8 * hidden));
        }
    }
    vec3 colour = background(d);
    if (mirrored) {
        // The lamp, a small ball with a halo.
        float off = acos(clamp(dot(d, normalize(light - from)), -1.0, 1.0));
        colour += vec3(60.0, 56.0, 48.0) * (1.0 - smoothstep(0.030, 0.045, off)) + 0.5 * exp(-14.0 * off);
    }
    return colour;
}

float mirrors(float incident, float refracted, float eta) {
    float s = (eta * incident - refracted) / (eta * incident + refracted);
    float p = (eta * refracted - incident) / (eta * refracted + incident);
    return 0.5 * (s * s + p * p);
}

// Where a ray from outside enters the sphere; FAR where it does not.
float to_sphere(vec3 from, vec3 d) {
    vec3 at = from - centre;
    float nearest = dot(at, d);
    vec3 aside = at - nearest * d;
    float depth2 = radius * radius - dot(aside, aside);
    return depth2 > 0.0 && nearest < 0.0 ? -nearest - sqrt(depth2) : FAR;
}

vec3 look(vec3 from, vec3 d) {
    float t = to_sphere(from, d);
    float floor_t = d.z < 0.0 ? -from.z / d.z : FAR;
    if (t >= floor_t || t >= FAR) return surroundings(from, d, false);
    vec3 at = from + t * d;
    vec3 n = (at - centre) / radius;
    float eta = 1.0 / index;
    float incident = -dot(d, n);
    float sine2 = eta * eta * (1.0 - incident * incident);
    float share = sine2 < 1.0 ? mirrors(incident, sqrt(1.0 - sine2), eta) : 1.0;
    vec3 colour = share * surroundings(at, reflect(d, n), true);
    vec3 inside = refract(d, n, eta);
    vec3 left = vec3(1.0 - share);
    for (int k = 0; k < 4 && max(left.r, max(left.g, left.b)) > 0.004; ++k) {
        float chord = -2.0 * dot(inside, at - centre);
        left *= exp(-chord * absorption);
        at += chord * inside;
        n = (centre - at) / radius;
        incident = -dot(inside, n);
        sine2 = index * index * (1.0 - incident * incident);
        share = sine2 < 1.0 ? mirrors(incident, sqrt(1.0 - sine2), index) : 1.0;
        if (share < 1.0) colour += (1.0 - share) * left * surroundings(at, refract(inside, n, index), true);
        left *= share;
        inside = reflect(inside, n);
    }
    return colour;
}

// Bright light turns white little by little; then the curve that screens expect.
vec3 shown(vec3 c) {
    c = log2(1.0 + 1.8 * c) / 5.0;
    c = clamp(c, 0.0, 1.0);
    return mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(vec3(0.0031308), c));
}

vec4 kernel(ivec2 p) {
    int t = texel_index(p);
    vec2 pixel = vec2(t % pixels, t / pixels);
    if (from_above == 1) {
        // Row 0 is the top of a picture, and the far side of the square.
        vec2 at = 2.0 * (pixel + 0.5) / float(pixels) - 1.0;
        return vec4(shown(irradiance(vec2(at.x, -at.y))), 1.0);
    }
    vec3 sum = vec3(0.0);
    for (int k = 0; k < 9; ++k) {
        vec2 s = 2.0 * (pixel + (vec2(k % 3, k / 3) + 0.5) / 3.0) / float(pixels) - 1.0;
        sum += shown(look(eye, normalize(forward + view * (s.x * right - s.y * up))));
    }
    return vec4(sum / 9.0, 1.0);
}
