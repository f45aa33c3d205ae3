// The way of one photon from the light: past the glass sphere or against it, where it is reflected or refracted by
// chance, according to Fresnel's equations; through the glass, which absorbs; and to the plane z = 0. Sums are written
// out, so that the twin on the CPU adds in the same order.
const int DIRECT = 0;   // never met the sphere
const int MIRRORED = 1; // reflected by its outside
const int THROUGH = 2;  // and the number of reflections inside
const int PLANE = 0;    // met the plane
const int AWAY = 1;     // never will
const int ABSORBED = 2; // in the glass

struct Fate {
    vec2 at; // of the plane
    int path;
    int end;
};

float dot3(vec3 a, vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

float root(float x) { return sqrt(max(x, 0.0)); }

// A ray d meets a surface with normal n, which looks towards it; eta is the ratio of the refractive indices on this side
// and on the other. With the chance given by Fresnel's equations, or by total reflection, it stays on this side.
bool crosses(inout vec3 d, vec3 n, float eta, float chance) {
    float incident = -dot3(d, n);
    float sine2 = eta * eta * (1.0 - incident * incident);
    if (sine2 < 1.0) {
        float refracted = root(1.0 - sine2);
        float s = (eta * incident - refracted) / (eta * incident + refracted);
        float p = (eta * refracted - incident) / (eta * refracted + incident);
        if (!(chance < 0.5 * (s * s + p * p))) {
            d = eta * d + (eta * incident - refracted) * n;
            return true;
        }
    }
    d = d + (2.0 * incident) * n;
    return false;
}

// d: where it starts for, a unit vector. free: how far it gets in glass. chances: what decides at each surface.
Fate trace(vec3 d, float index, float free, vec4 chances) {
    vec3 at = light - centre; // places are relative to the sphere's centre
    int path = DIRECT;
    float nearest = dot3(at, d);
    vec3 aside = at - nearest * d;
    float depth2 = radius * radius - dot3(aside, aside);
    if (nearest < 0.0 && 0.0 < depth2) {
        at = at + (-nearest - root(depth2)) * d;
        if (crosses(d, at / radius, 1.0 / index, chances.x)) {
            path = THROUGH;
            float left = free;
            bool inside = true;
            for (int k = 1; k < 4 && inside; ++k) {
                float chord = -2.0 * dot3(d, at);
                if (left < chord) return Fate(vec2(0.0), path, ABSORBED);
                left = left - chord;
                at = at + chord * d;
                inside = !crosses(d, -(at / radius), index, chances[k]);
                if (inside) ++path;
            }
            // What is still inside after three reflections will hardly come out any more.
            if (inside) return Fate(vec2(0.0), path, ABSORBED);
        } else {
            path = MIRRORED;
        }
    }
    if (!(d.z < 0.0)) return Fate(vec2(0.0), path, AWAY);
    float way = (at.z + centre.z) / -d.z;
    return Fate(at.xy + centre.xy + way * d.xy, path, PLANE);
}

// What becomes of photon i: its direction and free path, and its chances. Three follow one another, red, green and blue.
Fate photon(int i) { return trace(attribute0.xyz, indices[i % 3], attribute0.w, attribute1); }

// The square's texel in which a photon lies that met the plane; outside [0, size)^2 it missed the square.
vec2 place(vec2 at) { return (0.5 * at + 0.5) * size; }
