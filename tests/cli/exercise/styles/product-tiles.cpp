// cpp: tiles of 4 x 8 results in registers, k in pieces of 32 whose sums are carried on.
#include "lockstep_exercise.h"

#include <algorithm>
#include <math.h>

extern "C" void product(const struct product_args *p) {
  std::fill(p->c, p->c + p->m * p->n, 0.0f);
  for (int64_t first = 0; first < p->k; first += 32)
    for (int64_t i0 = 0; i0 < p->m; i0 += 4)
      for (int64_t j0 = 0; j0 < p->n; j0 += 8)
        for (int64_t i = i0; i < std::min(i0 + 4, p->m); ++i)
          for (int64_t j = j0; j < std::min(j0 + 8, p->n); ++j) {
            float sum = p->c[i * p->n + j];
            for (int64_t l = first; l < std::min(first + 32, p->k); ++l)
              sum = fmaf(p->a[i * p->k + l], p->b[l * p->n + j], sum);
            p->c[i * p->n + j] = sum;
          }
}
