// Any bytes: refused with one line, or read; what was read survives being written and read again.

#include "lockstep/data/formats/safetensors.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  return read_within(kPlain, data, size, [](std::span<const std::byte> bytes) {
    const Safetensors read = parse_safetensors(bytes, "fuzz.safetensors");
    const Safetensors again = parse_safetensors(write_safetensors(read), "again.safetensors");
    if (read.metadata != again.metadata || read.tensors.size() != again.tensors.size()) std::abort();
    for (std::size_t i = 0; i < read.tensors.size(); ++i) {
      if (read.tensors[i].name != again.tensors[i].name) std::abort();
      check_same(read.tensors[i].array, again.tensors[i].array);
    }
  });
}
