// simd: 16 samples side by side, the remainder by itself.
#include "lockstep_exercise.h"

#include <math.h>

typedef float lanes __attribute__((vector_size(64), aligned(4), may_alias));

extern "C" void linear_forward(const struct linear_forward_args *a) {
  for (int64_t o = 0; o < a->out; ++o) {
    const float start = a->b ? a->b[o] : 0;
    const float *const w = a->w + o * a->in;
    int64_t s = 0;
    for (; s + 16 <= a->samples; s += 16) {
      float sum[16];
      for (int l = 0; l < 16; ++l) sum[l] = start;
      for (int64_t i = 0; i < a->in; ++i)
        for (int l = 0; l < 16; ++l) sum[l] = fmaf(w[i], a->x[i * a->samples + s + l], sum[l]);
      lanes all;
      for (int l = 0; l < 16; ++l) all[l] = sum[l];
      *(lanes *)(a->y + o * a->samples + s) = all;
    }
    for (; s < a->samples; ++s) {
      float sum = start;
      for (int64_t i = 0; i < a->in; ++i) sum = fmaf(w[i], a->x[i * a->samples + s], sum);
      a->y[o * a->samples + s] = sum;
    }
  }
}
