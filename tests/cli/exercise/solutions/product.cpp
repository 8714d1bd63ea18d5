#include "lockstep_exercise.h"

#include <math.h>

extern "C" void product(const struct product_args *p) {
  const int64_t m = p->m, n = p->n, k = p->k;
#pragma omp parallel for
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) p->c[i * n + j] = 0;
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < n; ++j) p->c[i * n + j] = fmaf(p->a[i * k + l], p->b[l * n + j], p->c[i * n + j]);
  }
}
