#include "lockstep/kernels/backend.hpp"
#include "lockstep/kernels/device/device.hpp"
#include "tests/kernels/cuda/emulated.hpp"
#include "tests/kernels/device/staged.hpp"

namespace lockstep::test {

const std::vector<Rung>& rungs() {
  // Never destroyed: a driver may be gone before what has static lifetime.
  static const auto* const made = [] {
    use_emulator();
    auto* const list = new std::vector<Rung>;
    const auto device = open_device(Backend::cuda);
    for (const Backend backend : {Backend::cuda_naive, Backend::cuda})
      list->push_back({device, make_table<float>(backend), make_table<double>(backend)});
    return list;
  }();
  return *made;
}

}  // namespace lockstep::test
