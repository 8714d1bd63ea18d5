// Any bytes as a MATLAB file: refused, or every variable is refused or read.

#include "lockstep/data/formats/mat5.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  return read_within(kCompressed, data, size, [&](std::span<const std::byte> bytes) {
    const Mat5Reader reader(bytes, "fuzz.mat");
    for (const Mat5Entry& entry : reader.entries()) {
      read_or_refuse(data, size, [&](std::span<const std::byte>) { check_array(reader.read(entry.name)); });
    }
  });
}
