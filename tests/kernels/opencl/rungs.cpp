#include <cstdlib>

#include "lockstep/kernels/device/table.hpp"
#include "lockstep/kernels/opencl/opencl.hpp"
#include "tests/kernels/device/staged.hpp"

namespace lockstep::test {

const std::vector<Rung>& rungs() {
  // Never destroyed: a driver may be gone before what has static lifetime.
  static const auto* const made = [] {
    auto* const list = new std::vector<Rung>;
    ::setenv("LOCKSTEP_CACHE_DIR", "off", 0);  // asking a driver for its binaries compiles what no test needs
    if (list_opencl_devices().empty()) return list;
    const auto device = open_opencl_device(0);
    const bool tuned_only = std::getenv("LOCKSTEP_TEST_TUNED_ONLY") != nullptr;  // simulators are slow
    if (!tuned_only)
      list->push_back(
          {device, make_naive_device_table<float>("opencl-naive"), make_naive_device_table<double>("opencl-naive")});
    list->push_back({device, make_device_table<float>("opencl"), make_device_table<double>("opencl")});
    if (!device->info().is_cpu || tuned_only) return list;
    ::setenv("LOCKSTEP_OPENCL_LANES", "1", 1);  // one sample per work-item, tiles in local memory: what GPUs run
    list->push_back({open_opencl_device(0), make_device_table<float>("opencl as on a GPU"),
                     make_device_table<double>("opencl as on a GPU")});
    ::unsetenv("LOCKSTEP_OPENCL_LANES");
    return list;
  }();
  return *made;
}

}  // namespace lockstep::test
