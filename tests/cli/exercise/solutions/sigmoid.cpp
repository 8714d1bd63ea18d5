#include "lockstep_exercise.h"

#include <math.h>

extern "C" void sigmoid(const struct sigmoid_args *args) {
#pragma omp parallel for
  for (int64_t i = 0; i < args->n; ++i) {
    const float x = args->x[i];
    const float e = contract_exp(-fminf(fabsf(x), 105.0f));
    const float a = x < 0 ? e : 1.0f, b = 1.0f + e;
    const float inverse = 1.0f / b, first = a * inverse, low = e - (b - 1.0f);
    const float rest = fmaf(-first, b, a) + fmaf(-first, low, 0.0f);
    const float y = fmaf(rest, inverse, first);
    args->y[i] = y;
    args->dx[i] = args->dy[i] * (y * (1 - y));
  }
}
