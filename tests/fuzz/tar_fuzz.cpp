// Any bytes as a tape archive: refused, or files that lie within it.

#include "lockstep/data/formats/tar.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  return read_within(kPlain, data, size, [](std::span<const std::byte> bytes) {
    for (const TarEntry& entry : parse_tar(bytes, "fuzz.tar"))
      if (entry.offset < 0 || entry.size < 0 || entry.offset + entry.size > static_cast<std::int64_t>(bytes.size()))
        std::abort();
  });
}
