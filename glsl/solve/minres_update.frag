// The direction and the iterate of MINRES: w' = a z - b w_before - d w, y' = y + factor e w'. Both as they were where nothing is to
// move, whatever the others hold. At first there are no directions before: then b and d are 0, and w may be anything. The factor may be
// so small that nothing but the whole update stays in range when multiplied by it.
void kernel(ivec2 p, out vec4 next_w, out vec4 next_y) {
    vec4 c = coefficients_at(ivec2(0));
    next_w = c.x * z_here();
    if (c.y != 0.0) next_w -= c.y * before_here();
    if (c.z != 0.0) next_w -= c.z * w_here();
    next_y = y_here();
    if (c.x != 0.0) next_y += factor * (c.w * next_w);
    else next_w = vec4(0.0);
}
