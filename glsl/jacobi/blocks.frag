// One quad of blocks of n unknowns each, which follow one another in a folded vector v: block m is texel m, counted row by
// row, and its lanes are the unknowns `lanes` of the block, times `weight`. Unknowns from n on are padding: zeros.
float lane(int first, int i, float weight_of) {
    // Never past the vector's last element: what is there is left out by choice.
    float value = v_element(uint(first + min(i, n - 1)));
    return i < n ? weight_of * value : 0.0;
}

vec4 kernel(ivec2 p) {
    int first = n * texel_index(p);
    return vec4(
        lane(first, lanes.x, weight.x), lane(first, lanes.y, weight.y),
        lane(first, lanes.z, weight.z), lane(first, lanes.w, weight.w)
    );
}
