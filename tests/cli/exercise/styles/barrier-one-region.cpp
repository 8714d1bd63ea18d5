// openmp: one parallel region for all steps, a barrier between them.
#include "lockstep_exercise.h"

#include <math.h>
#include <vector>

extern "C" void smooth(const struct smooth_args *a) {
  const int64_t n = a->n;
  std::vector<float> both[2] = {std::vector<float>(a->x, a->x + n), std::vector<float>((size_t)n)};
#pragma omp parallel
  for (int64_t step = 0; step < a->steps; ++step) {
    const float *const now = both[step % 2].data();
    float *const next = both[(step + 1) % 2].data();
#pragma omp for
    for (int64_t i = 0; i < n; ++i)
      next[i] = fmaf(0.3f, now[i > 0 ? i - 1 : 0] + now[i + 1 < n ? i + 1 : n - 1], 0.4f * now[i]);
  }
  for (int64_t i = 0; i < n; ++i) a->y[i] = both[a->steps % 2][(size_t)i];
}
