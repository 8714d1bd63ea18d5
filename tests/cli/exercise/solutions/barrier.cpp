#include "lockstep_exercise.h"

#include <math.h>
#include <vector>

extern "C" void smooth(const struct smooth_args *a) {
  std::vector<float> one(a->x, a->x + a->n), other(one.size());
  float *now = one.data(), *next = other.data();
  const int64_t n = a->n;
  for (int64_t step = 0; step < a->steps; ++step) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; ++i) {
      const float left = now[i > 0 ? i - 1 : 0], right = now[i + 1 < n ? i + 1 : n - 1];
      next[i] = fmaf(0.3f, left + right, 0.4f * now[i]);
    }
    float *const swap = now;
    now = next;
    next = swap;
  }
  for (int64_t i = 0; i < n; ++i) a->y[i] = now[i];
}
