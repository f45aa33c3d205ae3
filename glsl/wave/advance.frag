// A step of the wave equation in increments: from y = y_n, v = y_n - y_(n-1) and d = y_(n+1) - 2 y_n + y_(n-1)
//   v' = v + d,  y' = y + v'   [Krueger05] 44.4
void kernel(ivec2 p, out vec4 next_y, out vec4 next_v) {
    next_v = v_here() + d_here();
    next_y = y_here() + next_v;
}
