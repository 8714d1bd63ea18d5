// cpp: the samples outermost; every sum still takes them in ascending order.
#include "lockstep_exercise.h"

#include <math.h>

extern "C" void linear_backward_weights(const struct linear_backward_weights_args *a) {
  for (int64_t o = 0; o < a->out; ++o) {
    for (int64_t i = 0; i < a->in; ++i) a->dw[o * a->in + i] = 0;
    a->db[o] = 0;
  }
  for (int64_t s = 0; s < a->samples; ++s)
    for (int64_t o = 0; o < a->out; ++o) {
      const float dy = a->dy[o * a->samples + s];
      for (int64_t i = 0; i < a->in; ++i) a->dw[o * a->in + i] = fmaf(dy, a->x[i * a->samples + s], a->dw[o * a->in + i]);
      a->db[o] += dy;
    }
}
