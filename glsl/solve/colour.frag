// Which texels have a colour: the condition under which a sweep visits them.
bool kernel(ivec2 p) {
    return colours_here().x == colour;
}
