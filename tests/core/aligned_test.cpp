#include "lockstep/core/aligned.hpp"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

template <class T>
bool on_a_cache_line(const AlignedBuffer<T>& buffer) {
  return reinterpret_cast<std::uintptr_t>(buffer.data()) % kCacheLine == 0;
}

TEST(AlignedBuffer, StartsOnACacheLineAndHoldsZeros) {
  for (const std::int64_t size : {1, 15, 16, 17, 1000}) {
    const AlignedBuffer<float> buffer(size);
    EXPECT_EQ(buffer.size(), size);
    EXPECT_TRUE(on_a_cache_line(buffer));
    for (const float value : buffer.span()) EXPECT_EQ(value, 0.0F);
  }
}

TEST(AlignedBuffer, EmptyHoldsNothing) {
  const AlignedBuffer<double> none;
  const AlignedBuffer<double> zero(0);
  const AlignedBuffer<double> copy(zero);  // NOLINT(performance-unnecessary-copy-initialization): it is the test
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(zero.data(), nullptr);
  EXPECT_TRUE(copy.span().empty());
}

TEST(AlignedBuffer, CopiesAreIndependent) {
  AlignedBuffer<std::int32_t> first(3);
  first[2] = 7;
  AlignedBuffer<std::int32_t> second(first);
  second[2] = 8;
  EXPECT_EQ(first[2], 7);
  first = second;
  EXPECT_EQ(first[2], 8);
  first[0] = 1;
  EXPECT_EQ(second[0], 0);
  EXPECT_TRUE(on_a_cache_line(first));
}

TEST(AlignedBuffer, MovesLeaveNothingBehind) {
  AlignedBuffer<float> first(5);
  first[4] = 2.5F;
  const float* const where = first.data();
  AlignedBuffer<float> second(std::move(first));
  EXPECT_EQ(second.data(), where);
  EXPECT_EQ(first.size(), 0);  // NOLINT(bugprone-use-after-move): the moved-from state is what is tested
  first = std::move(second);
  EXPECT_EQ(first[4], 2.5F);
  EXPECT_EQ(second.size(), 0);  // NOLINT(bugprone-use-after-move)
}

// 2^62 floats are 2^64 bytes, which wrap to 0: a buffer of nothing that claims a size.
TEST(AlignedBuffer, RefusesSizesThatWrapOrAreNegative) {
  for (const std::int64_t size : {std::int64_t{1} << 62, std::int64_t{-1}}) {
    try {
      const AlignedBuffer<float> buffer(size);
      FAIL() << size << " elements were granted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::resources);
    }
  }
}

}  // namespace
}  // namespace lockstep
