// How many texels a mask holds for, a window of texels at a time [Krueger05] 44.3.2; windows past an edge are cut off. Counted in
// integers: the two halves of 32 bits, each of which a float holds.
uint held(ivec2 q) {
#if defined(FIRST)
    return x_at(q).x > 0.5 ? 1u : 0u;
#else
    uvec2 halves = uvec2(x_at(q).xy);
    return halves.x + (halves.y << 16);
#endif
}

vec4 kernel(ivec2 p) {
    ivec2 first = (p - ivec2(place, 0)) * WINDOW;
    ivec2 end = min(first + WINDOW, source);
    uint total = 0u;
    for (int y = first.y; y < end.y; y++) {
        for (int x = first.x; x < end.x; x++) total += held(ivec2(x, y));
    }
    return vec4(float(total & 65535u), float(total >> 16), 0.0, 0.0);
}
