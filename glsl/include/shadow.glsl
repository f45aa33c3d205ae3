// What the scalar steps of BiCGStab share: when a vector is orthogonal to the shadow residual h, and a factor that does not sink.
#ifndef TEXLA_INCLUDE_SHADOW
#define TEXLA_INCLUDE_SHADOW
// 2^-20: below that times |h| |v| a sum of 32 bits is mostly rounding.
#define LEAST_SHADOW 9.5367431640625e-7
// The least cosine between two vectors that a factor is taken at.
#define LEAST_COSINE 0.7

// Of h.v, v.v and h.h. The factors are brought together so that no product leaves the range.
bool is_orthogonal(float hv, float vv) { return abs(hv) <= LEAST_SHADOW * sqrt(shadow) * sqrt(vv); }

float cosine(float hv, float vv) { return vv > 0.0 ? hv / sqrt(shadow) / sqrt(vv) : 0.0; }

// The factor by which |s - factor t| is least, of t.s, s.s and t.t > 0; where both are nearly orthogonal a larger one (Sleijpen and van
// der Vorst, 1995).
float kept_from_sinking(float ts, float ss, float tt) {
    float size = sqrt(ss / tt);
    float cosine = ts / (sqrt(ss) * sqrt(tt));
    return abs(cosine) < LEAST_COSINE ? (cosine < 0.0 ? -LEAST_COSINE : LEAST_COSINE) * size : ts / tt;
}
#endif
