#pragma once
// A driver may call abort(): PoCL does when it cannot compile or link a kernel, on whichever thread it is. The user is
// then told in a line what happened and what to do, and the program ends with ExitCode::resources.

#include "lockstep/kernels/device/device.hpp"

namespace lockstep::opencl {

/// To be called before the first call of a driver: whoever answers SIGABRT then is no driver, and is left alone.
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
