#pragma once
// What a kernel may use besides its arguments. One per worker: kernels are serial and re-entrant.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "lockstep/core/aligned.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep {

class Device;

class KernelContext {
 public:
  KernelContext() = default;
  /// For kernels that run on a device, which outlives this.
  explicit KernelContext(Device* device);

  Device& device() const {
    if (device_ == nullptr) throw Error(ErrorCode::bug, "a kernel for a device was called without one");
    return *device_;
  }
  /// Where the kernels find their arguments: the device's memory, or the host's.
  Memory& memory() const { return memory_ == nullptr ? host_memory() : *memory_; }

  /// Scratch memory for the length of one kernel call, cache-line aligned, content undefined; of the device where there
  /// is one.
  template <class T>
  T* scratch(std::int64_t count) {
    const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(T));
    if (bytes > scratch_.size()) scratch_ = AlignedBuffer<std::byte>(bytes, memory());
    return reinterpret_cast<T*>(scratch_.data());
  }

  /// What a backend keeps from call to call for this worker, made when it is first asked for. One type per context:
  /// another backend that comes along replaces it.
  template <class State>
  State& state() {
    static constexpr char kType = 0;
    if (state_type_ != &kType) {
      state_ = std::make_shared<State>();
      state_type_ = &kType;
    }
    return *static_cast<State*>(state_.get());
  }

 private:
  Device* device_ = nullptr;
  Memory* memory_ = nullptr;  // the same, as memory; null: the host's
  AlignedBuffer<std::byte> scratch_;
  std::shared_ptr<void> state_;  // shared only to forget the type
  const char* state_type_ = nullptr;
};

}  // namespace lockstep
