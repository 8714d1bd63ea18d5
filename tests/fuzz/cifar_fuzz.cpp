// Any bytes as a CIFAR file: refused, or pictures [3,32,32] with a label each.

#include "lockstep/data/formats/cifar.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  return read_within(kPlain, data, size, [](std::span<const std::byte> bytes) {
    const Samples samples = parse_cifar(bytes, "fuzz.bin");
    check_array(samples.features);
    if (samples.features.row_elements() != 3 * 32 * 32 || samples.targets.size() != samples.features.dims[0])
      std::abort();
    for (const std::int32_t label : samples.targets.labels)
      if (label < 0 || label >= samples.targets.classes) std::abort();
  });
}
