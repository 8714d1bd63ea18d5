#include "lockstep_exercise.h"

#include <math.h>

extern "C" void conv2d_forward(const struct conv2d_forward_args *a) {
  const int64_t oh = (a->in_height + 2 * a->pad - a->kernel_h) / a->stride + 1;
  const int64_t ow = (a->in_width + 2 * a->pad - a->kernel_w) / a->stride + 1;
#pragma omp parallel for collapse(2)
  for (int64_t oc = 0; oc < a->out_channels; ++oc)
    for (int64_t oy = 0; oy < oh; ++oy)
      for (int64_t ox = 0; ox < ow; ++ox)
        for (int64_t s = 0; s < a->samples; ++s) {
          float sum = a->b ? a->b[oc] : 0;
          for (int64_t ic = 0; ic < a->in_channels; ++ic)
            for (int64_t ky = 0; ky < a->kernel_h; ++ky)
              for (int64_t kx = 0; kx < a->kernel_w; ++kx) {
                const int64_t iy = oy * a->stride + ky - a->pad, ix = ox * a->stride + kx - a->pad;
                if (iy < 0 || iy >= a->in_height || ix < 0 || ix >= a->in_width) continue;
                const float w = a->w[((oc * a->in_channels + ic) * a->kernel_h + ky) * a->kernel_w + kx];
                sum = fmaf(w, a->x[((ic * a->in_height + iy) * a->in_width + ix) * a->samples + s], sum);
              }
          a->y[((oc * oh + oy) * ow + ox) * a->samples + s] = sum;
        }
}
