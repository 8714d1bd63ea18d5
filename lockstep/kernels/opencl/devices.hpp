#pragma once

#include <string>
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

// A driver may call abort(): PoCL does when it cannot compile or link a kernel, on whichever thread it is. The user is
// then told in a line what happened and what to do, and the program ends with ErrorCode::resources.

/// To be called before the first call of a driver: a handler of SIGABRT that is there by then belongs to the program
/// around us and stays.
void note_abort_handler();

/// Answers SIGABRT of the whole process while one of these lives, unless the program around us does so itself.
class DriverAbort {
 public:
  explicit DriverAbort(const DeviceInfo& device);
  ~DriverAbort();
  DriverAbort(const DriverAbort&) = delete;
  DriverAbort& operator=(const DriverAbort&) = delete;
};

/// What this machine lacks that the platform's compiler needs, and where it comes from; empty: nothing. `version` is
/// what the platform says of itself. PoCL links kernels with the system's `ld`.
std::string missing_tool(const std::string& version);

}  // namespace lockstep::opencl
