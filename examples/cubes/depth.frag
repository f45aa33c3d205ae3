// The shadow map: nothing but depth.
void main() {}
