// Any bytes as an IDX file, plain or gzip: refused, or an array that survives being written and read again.

#include "lockstep/data/formats/idx.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  return read_within(kCompressed, data, size, [](std::span<const std::byte> bytes) {
    const Array array = parse_idx(bytes, "fuzz.idx");
    check_array(array);
    check_same(parse_idx(write_idx(array), "again.idx"), array);
  });
}
