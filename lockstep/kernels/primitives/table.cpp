#include "lockstep/kernels/primitives/table.hpp"

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep_built_isas.hpp"

namespace lockstep {

#define LOCKSTEP_DECLARE(isa)         \
  namespace simd_##isa {              \
    PrimitiveTable make_primitives(); \
  }
LOCKSTEP_BUILT_ISAS(LOCKSTEP_DECLARE)
#undef LOCKSTEP_DECLARE

PrimitiveTable naive_primitives() {
  return make_naive_table<float>().backend == "naive" ? naive_fma::make_primitives()
                                                      : naive_portable::make_primitives();
}

PrimitiveTable naive_o0_primitives() {
  static_cast<void>(make_naive_o0_table<float>());  // throws where it cannot run
  return naive_o0::make_primitives();
}

PrimitiveTable simd_primitives(Isa isa) {
#define LOCKSTEP_MAKE(name) \
  if (isa == Isa::name) return simd_##name::make_primitives();
  LOCKSTEP_BUILT_ISAS(LOCKSTEP_MAKE)
#undef LOCKSTEP_MAKE
  throw Error(ExitCode::bug, fmt::format("no primitives for {}", isa_name(isa)));
}

}  // namespace lockstep
