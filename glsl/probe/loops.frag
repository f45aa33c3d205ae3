// out = as many additions of a.y, which is 1, as a.x says: fewer where a driver leaves long loops early.
void main() {
    vec4 v = texelFetch(a, ivec2(0), 0);
    float sum = 0.0;
    for (float k = 0.0; k < v.x; k += 1.0) sum = sum * v.y + v.y;
    out0 = vec4(sum);
}
