#include "lockstep_exercise.h"

#include <math.h>

extern "C" void sgd_step(const struct sgd_step_args *a) {
#pragma omp parallel for
  for (int64_t i = 0; i < a->n; ++i) {
    const float v = fmaf(a->momentum, a->v[i], a->g[i]);
    a->v[i] = v;
    a->w[i] = fmaf(-a->lr, v, a->w[i]);
  }
}
