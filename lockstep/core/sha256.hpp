#pragma once
// SHA-256 (FIPS 180-4): the fingerprint of weights, files and runs.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "lockstep/core/sha256_blocks.hpp"

namespace lockstep {

using Sha256Digest = std::array<std::uint8_t, 32>;

/// Feed bytes in pieces of any size, then call finish() once; the pieces do not matter, only their sequence.
class Sha256 {
 public:
  void update(std::span<const std::byte> bytes);
  /// The digest of everything fed. Resets the object: the next update() starts a new message.
  Sha256Digest finish();

 private:
  Sha256State state_ = kInitial;
  std::array<std::byte, 64> pending_{};  // the start of a block not yet complete
  std::uint64_t length_ = 0;             // bytes fed so far; length_ % 64 of them are pending

  static constexpr Sha256State kInitial = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
};

/// Two lower-case hexadecimal digits per byte.
std::string to_hex(std::span<const std::uint8_t> bytes);

/// The hexadecimal digest of one piece of memory: 64 digits, the long form, which files and JSON have.
std::string sha256_hex(std::span<const std::byte> bytes);

/// The short form of a digest, for tables and messages: its first 8 digits.
std::string short_hash(const std::string& digest);

}  // namespace lockstep
