// One work-item per result, groups of 32.
#ifdef HOST
#include "lockstep_exercise.h"

static void launch_shape(const struct linear_forward_args *a, size_t global[3], size_t local[3]) {
  global[0] = (size_t)(a->out * a->samples + 31) / 32 * 32;
  local[0] = 32;
}
#else
__kernel void linear_forward(long in, long out, long samples, __global const float *x, __global const float *w,
                             __global const float *b, __global float *y) {
  const long r = get_global_id(0);
  if (r >= out * samples) return;
  const long o = r / samples, s = r % samples;
  float sum = b ? b[o] : 0;
  for (long i = 0; i < in; ++i) sum = fmaf(w[o * in + i], x[i * samples + s], sum);
  y[r] = sum;
}
#endif
