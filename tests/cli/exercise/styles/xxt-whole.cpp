// openmp: the whole product, threads take rows by their number.
#include "lockstep_exercise.h"

#include <math.h>
#include <omp.h>

extern "C" void xxt(const struct xxt_args *a) {
#pragma omp parallel
  for (int64_t i = omp_get_thread_num(); i < a->n; i += omp_get_num_threads())
    for (int64_t j = 0; j < a->n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < a->k; ++l) sum = fmaf(a->x[j * a->k + l], a->x[i * a->k + l], sum);
      a->y[i * a->n + j] = sum;
    }
}
