#pragma once
// The loop that measures how fast a processor can multiply and add: independent chains that stay in registers. It is
// compiled once per instruction set, each time into a namespace of its own; peak.hpp runs the ones this processor has.

#include <cstdint>

namespace lockstep {

struct PeakKernel {
  const char* isa;  // "avx2"
  // One call: `rounds` rounds over all chains. The result keeps the compiler from leaving them out.
  float (*run_float)(std::int64_t rounds);
  double (*run_double)(std::int64_t rounds);
  double float_flops, double_flops;  // of one round
};

namespace peak_baseline {
PeakKernel peak_kernel();
}
namespace peak_avx2 {
PeakKernel peak_kernel();
}
namespace peak_avx512 {
PeakKernel peak_kernel();
}

}  // namespace lockstep
