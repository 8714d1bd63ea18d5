// cpp: vectors of integers, a mask instead of a choice.
#include "lockstep_exercise.h"

typedef int32_t lanes __attribute__((vector_size(32), aligned(4), may_alias));

extern "C" void elementwise_max(const struct elementwise_max_args *a) {
  const int64_t n = a->rows * a->cols;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const lanes p = *(const lanes *)(a->a + i), q = *(const lanes *)(a->b + i);
    const lanes larger = p > q;
    *(lanes *)(a->c + i) = (p & larger) | (q & ~larger);
  }
  for (; i < n; ++i) a->c[i] = a->a[i] < a->b[i] ? a->b[i] : a->a[i];
}
