#pragma once
// The kernels of one instruction set, declared from the list of operations; each is defined in the source of its
// operation.

#include "lockstep/kernels/simd/isa.hpp"
#include "lockstep/kernels/simd/scratch.hpp"
#include "lockstep/kernels/table.hpp"

#define LOCKSTEP_INLINE_LAMBDA __attribute__((always_inline))
// NOLINTBEGIN(bugprone-macro-parentheses): names of templates take none
#define LOCKSTEP_SIMD_INSTANTIATE(kernel, Args)                    \
  template void kernel<float>(const Args<float>&, KernelContext&); \
  template void kernel<double>(const Args<double>&, KernelContext&);
// NOLINTEND(bugprone-macro-parentheses)

namespace lockstep::LOCKSTEP_SIMD {

#define LOCKSTEP_SIMD_DECLARE(operation, Args) \
  template <class T>                           \
  void operation(const Args<T>&, KernelContext&);
LOCKSTEP_SIMD_OPERATIONS(LOCKSTEP_SIMD_DECLARE)
#undef LOCKSTEP_SIMD_DECLARE

/// Lanes over outputs, for a few samples (linear_few.cpp): whole vectors of outputs from the first on. Returns how many
/// outputs it computed.
template <class T>
std::int64_t linear_forward_few(const LinearForward<T>&);
/// The same for all outputs, from transposed weights.
template <class T>
void linear_forward_transposed(const LinearForward<T>&);

}  // namespace lockstep::LOCKSTEP_SIMD
