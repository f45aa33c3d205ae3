// The element-wise family: one expression for each operation, on four elements at once [Krueger05] 44.3.1.
// `a` and `b` are coefficients, given as parameters or as scalars on the device.
#if A_ON_DEVICE
#define A alpha_value()
#else
#define A a
#endif
#if B_ON_DEVICE
#define B beta_value()
#else
#define B b
#endif

vec4 kernel(ivec2 p) {
#if defined(OP_FILL)
    return vec4(A);
#elif defined(OP_COPY)
    return x_here();
#elif defined(OP_NEG)
    return -x_here();
#elif defined(OP_ABS)
    return abs(x_here());
#elif defined(OP_SQRT)
    return sqrt(x_here());
#elif defined(OP_RECIPROCAL)
    return 1.0 / x_here();
#elif defined(OP_SCALE)
    return A * x_here();
#elif defined(OP_ADD_CONSTANT)
    return x_here() + A;
#elif defined(OP_CLAMP)
    return min(max(x_here(), A), B);
#elif defined(OP_ADD)
    return x_here() + y_here();
#elif defined(OP_SUB)
    return x_here() - y_here();
#elif defined(OP_MUL)
    return x_here() * y_here();
#elif defined(OP_DIV)
    return x_here() / y_here();
#elif defined(OP_DIV_OR_ZERO)
    vec4 d = y_here();
    bvec4 zero = equal(d, vec4(0.0));
    vec4 q = x_here() / mix(d, vec4(1.0), vec4(zero));
    return vec4(zero.x ? 0.0 : q.x, zero.y ? 0.0 : q.y, zero.z ? 0.0 : q.z, zero.w ? 0.0 : q.w);
#elif defined(OP_MAX)
    return max(x_here(), y_here());
#elif defined(OP_MIN)
    return min(x_here(), y_here());
#elif defined(OP_MAX_CONSTANT)
    return max(x_here(), vec4(A));
#elif defined(OP_AXPY)
    return A * x_here() + y_here();
#elif defined(OP_MINUS_SCALED)
    return y_here() - A * x_here();
#elif defined(OP_AXPBY)
    return A * x_here() + B * y_here();
#elif defined(OP_MUL_ADD)
    return x_here() * y_here() + z_here();
#elif defined(OP_MADAD)
    return x_here() + (y_here() + z_here()) * w_here();
#endif
}
