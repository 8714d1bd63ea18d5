#pragma once
// What a kernel may use besides its arguments. One per worker: kernels are serial and re-entrant.

#include <cstddef>
#include <cstdint>

#include "lockstep/core/aligned.hpp"

namespace lockstep {

class KernelContext {
 public:
  /// Scratch memory for the length of one kernel call, cache-line aligned, content undefined.
  template <class T>
  T* scratch(std::int64_t count) {
    const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(T));
    if (bytes > scratch_.size()) scratch_ = AlignedBuffer<std::byte>(bytes);
    return reinterpret_cast<T*>(scratch_.data());
  }

 private:
  AlignedBuffer<std::byte> scratch_;
};

}  // namespace lockstep
