// C = op(A) op(B) as the WebGL backend of TensorFlow.js does it (its program MatMulPacked): a texel is a block of 2x2
// elements, and a step takes one block of either operand, two fetches for eight multiply-adds. LEFT, RIGHT and the
// swizzles are those of the form; STEPS is half the inner dimension, rounded up and part of the program there too.
// Blocks are fetched by their numbers, where TensorFlow.js computes a coordinate between 0 and 1.
vec4 kernel(ivec2 p) {
    vec4 result = vec4(0.0);
    for (int i = 0; i < STEPS; ++i) {
        vec4 a = a_at(LEFT);
        vec4 b = b_at(RIGHT);
        result += a.A_FIRST * b.B_FIRST;
        result += a.A_SECOND * b.B_SECOND;
    }
    return result;
}
