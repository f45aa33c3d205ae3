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
    return x(p);
#elif defined(OP_NEG)
    return -x(p);
#elif defined(OP_ABS)
    return abs(x(p));
#elif defined(OP_SQRT)
    return sqrt(x(p));
#elif defined(OP_RECIPROCAL)
    return 1.0 / x(p);
#elif defined(OP_SCALE)
    return A * x(p);
#elif defined(OP_ADD_CONSTANT)
    return x(p) + A;
#elif defined(OP_CLAMP)
    return min(max(x(p), A), B);
#elif defined(OP_ADD)
    return x(p) + y(p);
#elif defined(OP_SUB)
    return x(p) - y(p);
#elif defined(OP_MUL)
    return x(p) * y(p);
#elif defined(OP_DIV)
    return x(p) / y(p);
#elif defined(OP_DIV_OR_ZERO)
    vec4 d = y(p);
    bvec4 zero = equal(d, vec4(0.0));
    vec4 q = x(p) / mix(d, vec4(1.0), vec4(zero));
    return vec4(zero.x ? 0.0 : q.x, zero.y ? 0.0 : q.y, zero.z ? 0.0 : q.z, zero.w ? 0.0 : q.w);
#elif defined(OP_MAX)
    return max(x(p), y(p));
#elif defined(OP_MIN)
    return min(x(p), y(p));
#elif defined(OP_AXPY)
    return A * x(p) + y(p);
#elif defined(OP_AXPBY)
    return A * x(p) + B * y(p);
#elif defined(OP_MUL_ADD)
    return x(p) * y(p) + z(p);
#endif
}
