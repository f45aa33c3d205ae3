// Two points at once, turned and shifted `steps` times: a long way to write an affine map.
vec4 affine(vec4 points, float shift) {
    for (int j = 0; j < steps; ++j) {
        points = turn.x * points + turn.y * vec4(-points.y, points.x, -points.w, points.z) + shift * offset;
    }
    return points;
}

// The two points that belong to a place.
vec4 pair(vec2 p) { return vec4(p, 0.5 * p.yx); }
