#pragma once
// The kernels of one instruction set; each is defined in the source of its operation.

#include "lockstep/kernels/simd/isa.hpp"
#include "lockstep/kernels/simd/scratch.hpp"
#include "lockstep/kernels/table.hpp"

#define LOCKSTEP_INLINE_LAMBDA __attribute__((always_inline))
#define LOCKSTEP_NOINLINE __attribute__((noinline))
#define LOCKSTEP_SIMD_INSTANTIATE(kernel, Args)                    \
  template void kernel<float>(const Args<float>&, KernelContext&); \
  template void kernel<double>(const Args<double>&, KernelContext&);

namespace lockstep::LOCKSTEP_SIMD {

template <class T>
void linear_forward(const LinearForward<T>&, KernelContext&);
template <class T>
void linear_backward_data(const LinearBackwardData<T>&, KernelContext&);
template <class T>
void linear_backward_weights(const LinearBackwardWeights<T>&, KernelContext&);

}  // namespace lockstep::LOCKSTEP_SIMD
