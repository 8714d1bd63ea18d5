// Any bytes as a .npz archive: refused, or every member is refused or read.

#include "lockstep/data/formats/npz.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  return read_within(kCompressed, data, size, [&](std::span<const std::byte> bytes) {
    const NpzReader reader(bytes, "fuzz.npz");
    for (const std::string& key : reader.keys()) {
      if (!reader.contains(key)) std::abort();
      read_or_refuse(data, size, [&](std::span<const std::byte>) { check_array(reader.read(key)); });
    }
  });
}
