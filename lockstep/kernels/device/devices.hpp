#pragma once
// From a backend's name to a device and its kernels.

#include <memory>
#include <vector>

#include "lockstep/kernels/backend.hpp"
#include "lockstep/kernels/device/device.hpp"

namespace lockstep {

/// Whether the backend's kernels run on a device: then a KernelContext needs one, and every address in a pass is the
/// device's.
bool on_device(Backend backend);

/// The device of the rank with this number on its machine: ranks take turns over the devices, unless
/// LOCKSTEP_OPENCL_DEVICE (platform:device) or CUDA_VISIBLE_DEVICES chooses. Throws Error(usage) where there is none,
/// no driver, or no such part in this build.
std::shared_ptr<Device> open_device(Backend backend, int local_rank = 0);

}  // namespace lockstep
