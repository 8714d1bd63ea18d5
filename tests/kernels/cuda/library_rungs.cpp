#include "lockstep/kernels/backend.hpp"
#include "lockstep/kernels/device/device.hpp"
#include "tests/kernels/cuda/emulated.hpp"
#include "tests/kernels/device/staged.hpp"

namespace lockstep::test {

const std::vector<Rung>& rungs() {
  // Never destroyed: a driver may be gone before what has static lifetime.
  static const auto* const made = [] {
    use_emulator();
    return new std::vector<Rung>{{open_device(Backend::cuda_library), make_table<float>(Backend::cuda_library),
                                  make_table<double>(Backend::cuda_library)}};
  }();
  return *made;
}

}  // namespace lockstep::test
