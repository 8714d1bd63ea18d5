#include "lockstep/kernels/context.hpp"

#include "lockstep/kernels/device/device.hpp"

namespace lockstep {

KernelContext::KernelContext(Device* device) : device_(device), memory_(device) {}

Memory& KernelContext::memory() const { return memory_ == nullptr ? host_memory() : *memory_; }

}  // namespace lockstep
