// Addition: one pass over three matrices. Limit: the memory.

#include "lockstep/kernels/add.hpp"

#include "lockstep/kernels/simd/ops.hpp"

namespace lockstep::LOCKSTEP_SIMD {

template <class T>
void add(const Add<T>& a, KernelContext&) {
  map(
      a.y, [](Vec<T> left, Vec<T> right) LOCKSTEP_INLINE_LAMBDA { return left + right; }, a.a, a.b);
}

LOCKSTEP_SIMD_INSTANTIATE(add, Add)

}  // namespace lockstep::LOCKSTEP_SIMD
