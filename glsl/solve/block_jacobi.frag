// z = M r where M holds a 4x4 block for each texel: column k of it lies at the same texel of the k-th vector.
vec4 kernel(ivec2 p) {
    vec4 r4 = r_here();
    return (first_here() * r4.x + second_here() * r4.y) + (third_here() * r4.z + fourth_here() * r4.w);
}
