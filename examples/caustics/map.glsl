// Every photon counts one: in the square's texel that it lands in, in the channel of its colour, or in one of the tallies
// behind the square, by its way and its end.
void point(int i, out ivec2 texel, out vec4 value) {
    Fate fate = photon(i);
    vec2 q = place(fate.at);
    bool landed = fate.end == PLANE && all(lessThanEqual(vec2(0.0), q)) && all(lessThan(q, vec2(size)));
    int side = int(size);
    int end = fate.end == PLANE ? AWAY : fate.end;
    int t = landed ? int(q.y) * side + int(q.x) : side * side + 3 * fate.path + end;
    texel = texel_position(t);
    value = vec4(equal(ivec4(i % 3), ivec4(0, 1, 2, 3)));
}
