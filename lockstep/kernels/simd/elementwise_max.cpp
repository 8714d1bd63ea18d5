// Element-wise maximum of integers. A plain loop over rows that cannot overlap: the compiler turns it into one
// instruction per vector (vpmaxsd; a comparison and a choice on baseline x86-64). Limit: the memory.

#include "lockstep/kernels/primitives/elementwise_max.hpp"

#include "lockstep/kernels/primitives/table.hpp"
#include "lockstep/kernels/simd/isa.hpp"

namespace lockstep::LOCKSTEP_SIMD {

PrimitiveTable make_primitives();

static void elementwise_max(const ElementwiseMax& args) {
  for (std::int64_t r = 0; r < args.c.rows; ++r) {
    const std::int32_t* __restrict a = args.a.row(r);
    const std::int32_t* __restrict b = args.b.row(r);
    std::int32_t* __restrict c = args.c.row(r);
    for (std::int64_t i = 0; i < args.c.cols; ++i) c[i] = a[i] > b[i] ? a[i] : b[i];
  }
}

PrimitiveTable make_primitives() { return {.name = LOCKSTEP_SIMD_NAME, .elementwise_max = &elementwise_max}; }

}  // namespace lockstep::LOCKSTEP_SIMD
