#include "lockstep_exercise.h"

extern "C" void network_cost(const struct network_cost_args *a) {
  const int64_t in = a->in, hidden = a->hidden, out = a->out, samples = a->samples;
#pragma omp parallel for
  for (int64_t s = 0; s < samples; ++s) {
    for (int64_t j = 0; j < hidden; ++j) {
      float sum = a->b1[j];
      for (int64_t i = 0; i < in; ++i) sum = fmaf(a->w1[j * in + i], a->x[i * samples + s], sum);
      a->h[j * samples + s] = contract_sigmoid(sum);
    }
    float loss = 0;
    for (int64_t k = 0; k < out; ++k) {
      float z = a->b2[k];
      for (int64_t j = 0; j < hidden; ++j) z = fmaf(a->w2[k * hidden + j], a->h[j * samples + s], z);
      a->z[k * samples + s] = z;
      const float positive = z > 0 ? z : 0, t = a->t[k * samples + s];
      loss = loss + (fmaf(-z, t, positive) + contract_log1p(contract_exp(-fabsf(z))));
    }
    a->loss[s] = loss;
  }
  float total = 0;
  for (int64_t s = 0; s < samples; ++s) total = total + a->loss[s];
  a->cost[0] = total / (float)samples;
}
