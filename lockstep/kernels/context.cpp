#include "lockstep/kernels/context.hpp"

#include "lockstep/kernels/device/device.hpp"

namespace lockstep {

Memory& KernelContext::memory() const {
  if (device_ == nullptr) return host_memory();
  return *device_;
}

}  // namespace lockstep
