#pragma once
// Decompression that never trusts a size: memory grows only as data really arrives.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

enum class Deflate { zlib, gzip, raw };

/// Reads a compressed stream from front to back. `start` is the stream's place in the file, for messages.
/// gzip: members that follow each other are one stream (RFC 1952); anything else behind the end is an error.
class Inflater {
 public:
  Inflater(std::span<const std::byte> compressed, Deflate wrapper, std::string_view name, std::int64_t start = 0);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Fills `out`, or as much of it as the stream still holds; returns the number of bytes written.
  std::int64_t read(std::span<std::byte> out);
  /// Exactly `count` bytes; Error(data) names `what` when the stream is shorter, or cannot be that long.
  std::vector<std::byte> read_exactly(std::int64_t count, std::string_view what);
  /// Error(data) unless the stream ends here, checksum right and input used up.
  void expect_end();

 private:
  struct State;
  [[noreturn]] void fail(std::string_view what) const;
  bool at_end();

  std::unique_ptr<State> state_;
  std::string name_;
  std::int64_t start_;
  std::int64_t size_;
};

/// Compresses in one piece: for files that Lockstep writes.
std::vector<std::byte> deflate_bytes(std::span<const std::byte> bytes, Deflate wrapper);

}  // namespace lockstep
