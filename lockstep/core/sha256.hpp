#pragma once
// SHA-256 (FIPS 180-4): the fingerprint of weights, files and runs.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace lockstep {

// The inner function: whole blocks of 64 bytes into the state. Two of them, which give the same state: one in plain
// C++, one with the SHA instructions of x86-64 processors, about six times as fast.

using Sha256State = std::array<std::uint32_t, 8>;
using Sha256Blocks = void (*)(Sha256State& state, const std::byte* bytes, std::size_t blocks);

/// The round constants of FIPS 180-4.
inline constexpr std::array<std::uint32_t, 64> kSha256Rounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void sha256_blocks_portable(Sha256State& state, const std::byte* bytes, std::size_t blocks);

/// The one with the processor's instructions; null where it has none.
Sha256Blocks sha256_blocks_hardware();

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
