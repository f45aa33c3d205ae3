// Quads of blocks of n unknowns each, which follow one another in a folded vector v: block (x, y) is texel origin + (x, y) of
// the k-th of them, its lanes the unknowns `lanes` from 4 k on, times `weight`. Lanes of padding have the weight 0, and are zero
// by choice: what they read may be infinite. The kernel is generated: it writes a quad to each target.
vec4 quad(ivec2 p, int k) {
    ivec2 block = p - origin;
    int first = n * (block.y * width + block.x);
    vec4 result;
    for (int c = 0; c < 4; ++c) {
        int lane = 4 * k + c;
        float value = v_element(uint(first + lanes[lane]));
        result[c] = weight[lane] == 0.0 ? 0.0 : weight[lane] * value;
    }
    return result;
}
