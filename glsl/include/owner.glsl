// Which problem a texel of a vector belongs to, and its place there. With a single problem nothing is looked up.
#ifndef TEXLA_INCLUDE_OWNER
#define TEXLA_INCLUDE_OWNER
#if SINGLE
ivec2 owner(ivec2 p) { return ivec2(0, texel_index(p)); }
#else
ivec2 owner(ivec2 p) { return ivec2(owners_here().xy); }
#endif
#endif
