#pragma once
// What the processor under us can do, as far as the kernels care.

namespace lockstep {

struct CpuFeatures {
  bool avx2 = false;    // AVX2 and FMA
  bool avx512 = false;  // AVX-512 F, DQ, VL and BW
};

/// Includes what the operating system saves on a task switch: a feature that is here may be used.
CpuFeatures cpu_features();

}  // namespace lockstep
