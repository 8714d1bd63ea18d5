// Any bytes as a .pt file of PyTorch: refused with one line, or read; nothing in its pickle is run.

#include "lockstep/data/formats/pickle.hpp"
#include "lockstep/data/formats/torch.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  // Checksums keep most changed archives from the pickle in them, so the bytes are tried as a pickle too.
  read_within(kPlain, data, size, [](std::span<const std::byte> bytes) { const Pickle pickle(bytes, "fuzz.pkl"); });
  return read_within(kPlain, data, size, [](std::span<const std::byte> bytes) {
    for (const NamedArray& each : parse_torch(bytes, "fuzz.pt")) check_array(each.array);
  });
}
