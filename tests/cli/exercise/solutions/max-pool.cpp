#include "lockstep_exercise.h"

extern "C" void max_pool(const struct max_pool_args *a) {
  const int64_t oh = (a->in_height - a->window) / a->stride + 1, ow = (a->in_width - a->window) / a->stride + 1;
#pragma omp parallel for
  for (int64_t c = 0; c < a->channels; ++c)
    for (int64_t oy = 0; oy < oh; ++oy)
      for (int64_t ox = 0; ox < ow; ++ox)
        for (int64_t s = 0; s < a->samples; ++s) {
          const int64_t y0 = oy * a->stride, x0 = ox * a->stride;
          float best = a->x[((c * a->in_height + y0) * a->in_width + x0) * a->samples + s];
          for (int64_t ky = 0; ky < a->window; ++ky)
            for (int64_t kx = 0; kx < a->window; ++kx) {
              const float tap = a->x[((c * a->in_height + y0 + ky) * a->in_width + x0 + kx) * a->samples + s];
              best = tap > best ? tap : best;
            }
          a->y[((c * oh + oy) * ow + ox) * a->samples + s] = best;
        }
}
