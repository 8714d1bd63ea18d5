#include "lockstep/core/checksum.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "lockstep/core/random.hpp"

namespace lockstep {
namespace {

std::vector<std::byte> random_bytes(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = std::byte(random_bits({.seed = 7}, i) & 0xFF);
  return bytes;
}

TEST(Checksum, KeepsItsValues) {
  // A sender and a receiver of different versions must not disagree unnoticed: the definition is part of the protocol.
  EXPECT_EQ(checksum({}), 0U);
  EXPECT_EQ(checksum(random_bytes(1)), checksum(random_bytes(1)));
  std::set<std::uint64_t> all;
  for (std::size_t size = 0; size < 600; ++size) all.insert(checksum(std::vector<std::byte>(size)));
  EXPECT_EQ(all.size(), 600U) << "the length counts";
}

TEST(Checksum, EveryFlippedBitIsFound) {
  for (const std::size_t size : {1, 8, 255, 256, 257, 1000, 4096}) {
    std::vector<std::byte> bytes = random_bytes(size);
    const std::uint64_t before = checksum(bytes);
    for (std::size_t bit = 0; bit < 8 * size; ++bit) {
      bytes[bit / 8] ^= std::byte(1U << (bit % 8));
      EXPECT_NE(checksum(bytes), before) << size << " bytes, bit " << bit;
      bytes[bit / 8] ^= std::byte(1U << (bit % 8));
    }
    EXPECT_EQ(checksum(bytes), before);
  }
}

TEST(Checksum, ExchangedPartsAreFound) {
  std::vector<std::byte> bytes = random_bytes(4096);
  const std::uint64_t before = checksum(bytes);
  std::swap_ranges(bytes.begin(), bytes.begin() + 256, bytes.begin() + 1024);
  EXPECT_NE(checksum(bytes), before);
}

}  // namespace
}  // namespace lockstep
