#include "lockstep_exercise.h"

#include <math.h>

extern "C" void adam_step(const struct adam_step_args *a) {
#pragma omp parallel for
  for (int64_t i = 0; i < a->n; ++i) {
    const float g = a->g[i];
    const float m = fmaf(1 - a->beta1, g, a->beta1 * a->m[i]);
    const float v = fmaf((1 - a->beta2) * g, g, a->beta2 * a->v[i]);
    a->m[i] = m;
    a->v[i] = v;
    a->w[i] = fmaf(-a->rate, m / fmaf(sqrtf(v), a->inv_root2, a->eps), a->w[i]);
  }
}
