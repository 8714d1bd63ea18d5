#include "lockstep/kernels/primitives/table.hpp"

#include "lockstep/kernels/naive/table.hpp"

namespace lockstep {

namespace simd_baseline {
PrimitiveTable make_primitives();
}
namespace simd_avx2 {
PrimitiveTable make_primitives();
}
namespace simd_avx512 {
PrimitiveTable make_primitives();
}
namespace simd_neon {
PrimitiveTable make_primitives();
}

PrimitiveTable naive_primitives() {
  return make_naive_table<float>().backend == "naive" ? naive_fma::make_primitives()
                                                      : naive_portable::make_primitives();
}

PrimitiveTable naive_o0_primitives() {
  static_cast<void>(make_naive_o0_table<float>());  // throws where it cannot run
  return naive_o0::make_primitives();
}

PrimitiveTable simd_primitives([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
#if defined(LOCKSTEP_AVX512)
  if (isa == Isa::avx512) return simd_avx512::make_primitives();
#endif
  return isa == Isa::avx2 ? simd_avx2::make_primitives() : simd_baseline::make_primitives();
#elif defined(__aarch64__)
  return simd_neon::make_primitives();
#else
  return simd_baseline::make_primitives();
#endif
}

}  // namespace lockstep
