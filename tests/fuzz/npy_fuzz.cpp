// Any bytes as a .npy file: refused, or an array that survives being written and read again.

#include "lockstep/data/formats/npy.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  return read_within(kPlain, data, size, [](std::span<const std::byte> bytes) {
    if (const auto text = parse_npy_text(bytes, "fuzz.npy")) {
      std::int64_t words = 1;
      for (const std::int64_t extent : text->dims) words *= extent;
      if (words != static_cast<std::int64_t>(text->words.size())) std::abort();
      return;
    }
    const Array array = parse_npy(bytes, "fuzz.npy");
    check_array(array);
    check_same(parse_npy(write_npy(array), "again.npy"), array);
  });
}
