// Any bytes as a checkpoint: refused with one line, or read. No fuzzer finds a SHA-256, so the bytes are tried as they
// come, and once more with the right one in their last 32 bytes; what is then read survives being written and read.

#include <cstdlib>
#include <cstring>
#include <vector>

#include "lockstep/core/error.hpp"
#include "lockstep/core/sha256.hpp"
#include "lockstep/model/checkpoint.hpp"

namespace {

using namespace lockstep;

/// Nothing when the bytes were refused.
std::vector<std::byte> read_and_write(std::span<const std::byte> bytes) {
  try {
    const Checkpoint read = parse_checkpoint(bytes, "fuzz.safetensors");
    return write_checkpoint(read.model.network, read.model.info, read.state, read.run);
  } catch (const Error& error) {
    const bool refused = error.code() == ErrorCode::checkpoint || error.code() == ErrorCode::resources;
    if (!refused || std::strchr(error.what(), '\n') != nullptr) std::abort();
    return {};
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  read_and_write(bytes);
  if (size < sizeof(Sha256Digest)) return 0;
  std::vector<std::byte> sealed(bytes.begin(), bytes.end());
  Sha256 sha;
  sha.update(bytes.first(size - sizeof(Sha256Digest)));
  const Sha256Digest total = sha.finish();
  std::memcpy(sealed.data() + size - total.size(), total.data(), total.size());
  const std::vector<std::byte> written = read_and_write(sealed);
  if (!written.empty() && read_and_write(written) != written) std::abort();
  return 0;
}
