// The surface from above, lit from the upper left: colours by height, shaded by slope. `height(c)` is the node at c.
out vec4 shown;

void main() {
    ivec2 c = ivec2(gl_FragCoord.xy);
    float here = height(c);
    vec2 slope = vec2(dFdx(here), dFdy(here));
    vec3 normal = normalize(vec3(-0.07 * float(nodes.x) * slope, 1.0));
    float light = max(dot(normal, normalize(vec3(-0.5, 0.6, 0.62))), 0.0);
    vec3 water = mix(vec3(0.02, 0.22, 0.40), vec3(0.62, 0.87, 0.93), clamp(0.5 + 2.2 * here, 0.0, 1.0));
    float glint = pow(max(dot(normal, normalize(vec3(-0.28, 0.34, 0.9))), 0.0), 60.0);
    shown = vec4(water * (0.35 + 0.85 * light) + 0.35 * glint, 1.0);
}
