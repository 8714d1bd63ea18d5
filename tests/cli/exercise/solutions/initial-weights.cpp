#include "lockstep_exercise.h"

extern "C" void initial_weights(const struct initial_weights_args *a) {
#pragma omp parallel for
  for (int64_t b = 0; b < (a->n + 3) / 4; ++b) {
    uint32_t c[4] = {(uint32_t)b, (uint32_t)((uint64_t)b >> 32), 0, 0};
    uint32_t k0 = (uint32_t)a->seed, k1 = (uint32_t)((uint64_t)a->seed >> 32);
    for (int round = 0; round < 10; ++round) {
      const uint64_t p = (uint64_t)0xD2511F53u * c[0], q = (uint64_t)0xCD9E8D57u * c[2];
      const uint32_t next[4] = {(uint32_t)(q >> 32) ^ c[1] ^ k0, (uint32_t)q, (uint32_t)(p >> 32) ^ c[3] ^ k1, (uint32_t)p};
      for (int i = 0; i < 4; ++i) c[i] = next[i];
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    for (int64_t i = 0; i < 4 && 4 * b + i < a->n; ++i) {
      const float u = (float)(c[i] >> 8) * 0x1p-24f;
      a->w[4 * b + i] = (2 * u - 1) * a->bound;
    }
  }
}
