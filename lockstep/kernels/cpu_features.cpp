#include "lockstep/kernels/cpu_features.hpp"

namespace lockstep {

CpuFeatures cpu_features() {
#if defined(__x86_64__)
  return {.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
          .avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")};
#else
  return {};
#endif
}

}  // namespace lockstep
