#include "lockstep/core/philox.hpp"

#include <set>

#include <gtest/gtest.h>

namespace lockstep {
namespace {

using Words = std::array<std::uint32_t, 4>;

// The known-answer vectors published with Random123 (kat_vectors, philox4x32 10).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox4x32_10({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32_10({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, IsConstexpr) {
  static_assert(philox4x32_10({0, 0, 0, 0}, {0, 0})[0] == 0x6627e8d5);
  static_assert(random_block(RandomKey{.seed = 1}, 0) != random_block(RandomKey{.seed = 2}, 0));
}

// The packing is part of the promise: pi digits again, now through the documented fields.
TEST(RandomBlock, PacksAsDocumented) {
  const RandomKey key{.seed = 0x299f31d0a4093822,
                      .purpose = static_cast<Purpose>(0x03),
                      .epoch = 0x13198a,
                      .sample = 0x2e85a308d3,
                      .layer = 0x7073};
  EXPECT_EQ(random_block(key, 0x44243f6a88), (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomBlock, FieldsAtTheirLimitsDoNotCollide) {
  const RandomKey base{.seed = 7, .purpose = Purpose::dropout, .epoch = 1, .sample = 1, .layer = 1};
  std::set<Words> seen = {random_block(base, 1)};
  std::size_t count = 1;
  const auto expect_new = [&](const RandomKey& key, std::uint64_t block) {
    seen.insert(random_block(key, block));
    EXPECT_EQ(seen.size(), ++count);
  };
  for (int bit = 1; bit < 64; ++bit) {
    const std::uint64_t value = std::uint64_t{1} << bit;
    RandomKey key = base;
    key.seed ^= value;
    expect_new(key, 1);
    key = base;
    key.epoch = static_cast<std::uint32_t>(value);
    if (bit < 24) expect_new(key, 1);
    key = base;
    key.sample = value;
    if (bit < 40) expect_new(key, 1);
    key = base;
    key.layer = static_cast<std::uint32_t>(value);
    if (bit < 16) expect_new(key, 1);
    if (bit < 40) expect_new(base, value);
  }
  for (const Purpose purpose : {Purpose::init, Purpose::shuffle, Purpose::augment, Purpose::data, Purpose::split}) {
    RandomKey key = base;
    key.purpose = purpose;
    expect_new(key, 1);
  }
}

}  // namespace
}  // namespace lockstep
