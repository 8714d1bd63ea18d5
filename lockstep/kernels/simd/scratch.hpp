#pragma once
// KernelContext::scratch behind a function that is compiled once, for every machine: growing the memory instantiates
// library templates, whose symbols must not come from a source compiled for one instruction set (see isa.hpp).

#include <cstddef>
#include <cstdint>

#include "lockstep/core/inline.hpp"

namespace lockstep {

class KernelContext;

std::byte* simd_scratch(KernelContext& context, std::int64_t bytes);

template <class T>
LOCKSTEP_INLINE T* simd_scratch_of(KernelContext& context, std::int64_t count) {
  return reinterpret_cast<T*>(simd_scratch(context, count * static_cast<std::int64_t>(sizeof(T))));
}

}  // namespace lockstep
