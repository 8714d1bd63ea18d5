#pragma once
// Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011): a bijection of a
// 128-bit counter under a 64-bit key. Nothing is stored between calls, so a random number depends on what it
// is for and never on who computes it, or when.

#include <array>
#include <cstdint>

#include "lockstep/core/inline.hpp"

namespace lockstep {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

/// Four random words: ten rounds over `counter` under `key`. 32-bit lanes throughout, so a SIMD type or a
/// device can run it with one counter per lane.
LOCKSTEP_INLINE constexpr std::array<std::uint32_t, 4> philox4x32_10(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
    key = {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U};
  }
  return counter;
}

/// What a random number is for. The values are part of the stream: never renumber them.
enum class Purpose : std::uint32_t {
  init = 1,
  shuffle = 2,
  dropout = 3,
  augment = 4,
  data = 5,
  split = 6,
  recheck = 7
};

/// Names one stream of random words. Limits: epoch < 2^24, sample < 2^40, layer < 2^16, block < 2^40; within
/// them no two (key, block) share a Philox input. Larger values lose their high bits.
struct RandomKey {
  std::uint64_t seed = 0;
  Purpose purpose = Purpose::init;
  std::uint32_t epoch = 0;
  std::uint64_t sample = 0;
  std::uint32_t layer = 0;
};

/// Block k holds words 4k .. 4k+3 of the stream: a pure function of (key, k). Packing, high bits first:
///   key      seed[63:32], seed[31:0]           (words 1, 0)
///   counter3 purpose:8  layer:16  block[39:32]:8
///   counter2 epoch:24   sample[39:32]:8
///   counter1 sample[31:0]
///   counter0 block[31:0]
LOCKSTEP_INLINE constexpr std::array<std::uint32_t, 4> random_block(const RandomKey& key, std::uint64_t block) {
  const std::uint32_t purpose = static_cast<std::uint32_t>(key.purpose);
  const PhiloxCounter counter = {
      static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(key.sample),
      (key.epoch << 8) | (static_cast<std::uint32_t>(key.sample >> 32) & 0xFFU),
      (purpose << 24) | ((key.layer & 0xFFFFU) << 8) | (static_cast<std::uint32_t>(block >> 32) & 0xFFU)};
  return philox4x32_10(counter, {static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)});
}

}  // namespace lockstep
