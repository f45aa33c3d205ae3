// Signal of a tower (x, y, reach, strength) at a place, all in cells: it falls linearly with the distance.
float signal(vec2 place, vec4 tower) {
    vec2 d = place - tower.xy;
    return tower.w * max(1.0 - sqrt(d.x * d.x + d.y * d.y) / tower.z, 0.0);
}
