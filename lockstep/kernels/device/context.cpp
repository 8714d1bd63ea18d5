#include "lockstep/kernels/context.hpp"

#include "lockstep/kernels/device/device.hpp"

namespace lockstep {

KernelContext::KernelContext(Device* device) : device_(device), memory_(device) {}

}  // namespace lockstep
