// op(A) as dense/uniform.frag reads it: column k lies in the rows 2 k and 2 k + 1 of the target, where its fragments lie.
vec4 kernel(ivec2 p) {
    int t = p.x + (p.y & 1) * width + begin.y;
    int k = (p.y >> 1) + begin.x;
#if A_TRANSPOSED
    int lane = k & 3;
    ivec2 q = ivec2(4 * t, k >> 2);
    return vec4(a_clamped(q)[lane], a_clamped(q + ivec2(1, 0))[lane], a_clamped(q + ivec2(2, 0))[lane],
                a_clamped(q + ivec2(3, 0))[lane]);
#else
    return a_clamped(ivec2(k, t));
#endif
}
