// out = difference between the two ways to fetch the texel under the fragment.
void main() {
    vec4 computed = textureLod(a, gl_FragCoord.xy * inverse_extent, 0.0);
    out0 = computed - texelFetch(a, ivec2(gl_FragCoord.xy), 0);
}
