#pragma once
// Uniform numbers and permutations from the counter-based streams of philox.hpp. Every function is pure:
// the same arguments give the same bits in any order, on any thread. (Normal numbers need a logarithm and
// live in lockstep/kernels/math/normal.hpp.)

#include <cstdint>
#include <vector>

#include "lockstep/core/philox.hpp"

namespace lockstep {

/// Element e of the stream read as 64-bit numbers: words 2e (high half) and 2e+1 (low half).
LOCKSTEP_INLINE constexpr std::uint64_t random_bits(const RandomKey& key, std::uint64_t element) {
  const std::array<std::uint32_t, 4> words = random_block(key, element / 2);
  const std::uint32_t high = element % 2 == 0 ? words[0] : words[2];
  const std::uint32_t low = element % 2 == 0 ? words[1] : words[3];
  return (std::uint64_t{high} << 32) | low;
}

/// The upper 24 bits of `word` as a multiple of 2^-24 in [0, 1): exact.
LOCKSTEP_INLINE constexpr float uniform_float(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24F; }

/// The upper 53 bits of (high, low) as a multiple of 2^-53 in [0, 1): exact.
LOCKSTEP_INLINE constexpr double uniform_double(std::uint32_t high, std::uint32_t low) {
  return static_cast<double>(((std::uint64_t{high} << 32) | low) >> 11) * 0x1p-53;
}

/// Element `element` of the stream as a uniform number in [0, 1) with 53 bits.
LOCKSTEP_INLINE constexpr double uniform(const RandomKey& key, std::uint64_t element) {
  return static_cast<double>(random_bits(key, element) >> 11) * 0x1p-53;
}

/// 0 .. count-1 in random order: Fisher-Yates from the last place down; place i swaps with
/// floor(random_bits(key, i) * (i + 1) / 2^64), key = {seed, purpose, epoch}. The bias of that floor against
/// equal chances is below count / 2^64. Throws Error(bug) if count is negative.
std::vector<std::int64_t> permutation(std::uint64_t seed, Purpose purpose, std::uint32_t epoch, std::int64_t count);

}  // namespace lockstep
