#pragma once
// The backend is a run-time value: a name of the command line becomes a table of kernels and, for some, a device.

#include <memory>
#include <string>
#include <vector>

#include "lockstep/kernels/table.hpp"

namespace lockstep {

class Device;

enum class Backend {
  simd,
  naive,
  naive_o0,
  library,
  opencl,
  opencl_naive,
  opencl_library,
  cuda,
  cuda_naive,
  cuda_library
};

/// Where a rank stands among those of its machine.
struct LocalRank {
  int rank = 0, size = 1;
};

/// What is fixed about a backend; one record each in backend.cpp.
struct BackendInfo {
  Backend backend;
  const char* name;  // "simd", "naive-o0", "opencl-library", ...
  /// Whether its results are the bits of the promise. Those of the libraries agree within rounding, which every table
  /// that shows them says.
  bool promise;
  /// "opencl" or "cuda", where kernels run on a device: then a KernelContext needs one, and every address in a pass is
  /// the device's. Empty for the host.
  const char* device;
  KernelTable<float> (*float_table)();
  KernelTable<double> (*double_table)();
  std::shared_ptr<Device> (*open)(LocalRank place);  // null for the host
};

const BackendInfo& backend_info(Backend backend);
/// The names, in the order of Backend.
const std::vector<std::string>& backend_names();

inline bool keeps_the_promise(Backend backend) { return backend_info(backend).promise; }
inline bool on_device(Backend backend) { return backend_info(backend).open != nullptr; }

/// Throws Error(usage) where this machine or this build cannot run the backend, with what to do.
template <class T>
KernelTable<T> make_table(Backend backend);

/// The device of the rank with this number on its machine: ranks take turns over the devices, unless
/// LOCKSTEP_OPENCL_DEVICE (platform:device) or CUDA_VISIBLE_DEVICES chooses. Throws Error(usage) where there is none,
/// no driver, or no such part in this build.
std::shared_ptr<Device> open_device(Backend backend, LocalRank place = {});

/// Tells the driver which device this process will use, where the backend is a CUDA one: before MPI starts, because
/// some versions of the libraries below it bind to the device that they find chosen. Never throws: open_device says
/// what is missing.
void choose_device(Backend backend, LocalRank place) noexcept;

}  // namespace lockstep
