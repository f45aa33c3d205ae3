// A round mark with smooth edges: up to 1 in its rim, from 1 to 2 in its core; the larger wins.
vec4 kernel(ivec2 p, vec4 tower) {
    float off = distance(vec2(p) + 0.5, tower.xy);
    return vec4(clamp(mark - off, 0.0, 1.0) + clamp(0.55 * mark - off, 0.0, 1.0));
}
