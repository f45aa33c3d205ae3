// One quad of blocks of n unknowns each, which follow one another in a folded vector v: block (x, y) is texel origin + (x, y),
// its lanes the unknowns `lanes` of the block, times `weight`. Lanes of padding read any unknown and have the weight 0.
vec4 kernel(ivec2 p) {
    ivec2 block = p - origin;
    int first = n * (block.y * width + block.x);
    return weight * vec4(
        v_element(uint(first + lanes.x)), v_element(uint(first + lanes.y)),
        v_element(uint(first + lanes.z)), v_element(uint(first + lanes.w))
    );
}
