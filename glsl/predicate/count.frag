// Nothing is drawn: what counts is how many fragments get past the depth test [BeyondVector] 28.4.1.
bool kernel(ivec2 p) { return true; }
