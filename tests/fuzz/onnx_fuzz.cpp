// Any bytes: refused with one line, or imported as a network whose weights are finite.

#include "lockstep/model/onnx_import.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  return read_within(kPlain, data, size, [](std::span<const std::byte> bytes) {
    const Model model = import_onnx(bytes, "fuzz.onnx");
    if (!all_finite(model.network.values()) || model.network.layers().empty()) std::abort();
  });
}
