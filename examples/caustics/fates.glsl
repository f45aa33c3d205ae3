// What has become of photon i, in texel i: where it met the plane, its way and its end.
void point(int i, out ivec2 texel, out vec4 value) {
    Fate fate = photon(i);
    texel = texel_position(i);
    value = vec4(fate.at, float(fate.path), float(fate.end));
}
