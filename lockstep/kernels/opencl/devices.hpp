#pragma once
#include <vector>

#include "lockstep/kernels/device/device.hpp"
#include "lockstep/kernels/opencl/api.hpp"

namespace lockstep::opencl {

struct Found {
  cl_platform_id platform;
  cl_device_id device;
  DeviceInfo info;
};

/// Of every platform, GPUs before processors: "0:0" is platform 0, device 0.
std::vector<Found> find_devices();

/// The one that LOCKSTEP_OPENCL_DEVICE names, or this rank's; throws Error(usage) where there is none.
Found choose_device(int local_rank);

}  // namespace lockstep::opencl
