// Vec at the baseline width: partial loads and stores touch their lanes only, select chooses, transpose transposes.
#include "lockstep/kernels/simd/vec.hpp"

#include "lockstep/kernels/simd/mask.hpp"
#include "lockstep/kernels/simd/transpose.hpp"
#include "tests/kernels/support.hpp"

namespace lockstep::test {
namespace {

namespace simd = lockstep::LOCKSTEP_SIMD;

template <class T>
class SimdVec : public ::testing::Test {};
TYPED_TEST_SUITE(SimdVec, Scalars);

TYPED_TEST(SimdVec, TailsTouchTheirLanesOnly) {
  using T = TypeParam;
  constexpr int kWidth = simd::Vec<T>::kWidth;
  for (std::int64_t count = 0; count <= kWidth; ++count) {
    const auto from = random_vector<T>(count, 1);  // nothing behind it: a sanitizer sees a read too far
    const auto tail = simd::tail_of<T>(count);
    const simd::Vec<T> v = simd::load(from.data(), tail);
    std::vector<T> to(kWidth, T(7));
    simd::store(to.data(), v, tail);
    for (int lane = 0; lane < kWidth; ++lane) {
      EXPECT_EQ(v.v[lane], lane < count ? from[std::size_t(lane)] : T(0));
      EXPECT_EQ(to[std::size_t(lane)], lane < count ? from[std::size_t(lane)] : T(7));
    }
  }
}

TYPED_TEST(SimdVec, BroadcastKeepsSignOfZero) {
  EXPECT_TRUE(std::signbit(simd::broadcast(-TypeParam(0)).v[1]));
  EXPECT_FALSE(std::signbit(simd::zero<TypeParam>().v[1]));
}

TYPED_TEST(SimdVec, SelectTakesNanForNeither) {
  using T = TypeParam;
  const auto nan = simd::broadcast(kNan<T>), one = simd::broadcast(T(1)), two = simd::broadcast(T(2));
  EXPECT_EQ(simd::select(nan < one, one, two).v[0], T(2));
  EXPECT_EQ(simd::select(nan > one, one, two).v[0], T(2));
  EXPECT_EQ(simd::select(nan == nan, one, two).v[0], T(2));
  EXPECT_EQ(simd::select(one < two, one, two).v[0], T(1));
}

TYPED_TEST(SimdVec, LargerIsTheSecondForNan) {
  using T = TypeParam;
  const auto nan = simd::broadcast(kNan<T>), one = simd::broadcast(T(1)), two = simd::broadcast(T(2));
  EXPECT_EQ(simd::larger(one, two).v[0], T(2));
  EXPECT_EQ(simd::larger(two, one).v[0], T(2));
  EXPECT_EQ(simd::larger(nan, one).v[0], T(1));
  EXPECT_TRUE(std::isnan(simd::larger(one, nan).v[0]));
  EXPECT_TRUE(std::signbit(simd::larger(simd::zero<T>(), simd::broadcast(-T(0))).v[0]));
  EXPECT_FALSE(std::signbit(simd::larger(simd::broadcast(-T(0)), simd::zero<T>()).v[0]));
}

TYPED_TEST(SimdVec, TransposeStrip) {
  using T = TypeParam;
  constexpr std::int64_t kWidth = simd::Vec<T>::kWidth, kCols = 3 * kWidth + 1;
  const auto from = random_vector<T>(kWidth * kCols, 1);
  for (std::int64_t rows = 1; rows <= kWidth; ++rows) {
    auto to = nan_vector<T>(kCols * kWidth);
    simd::transpose_strip(from.data(), kCols, rows, kCols, to.data(), kWidth);
    for (std::int64_t r = 0; r < kWidth; ++r)
      for (std::int64_t c = 0; c < kCols; ++c)
        EXPECT_EQ(to[std::size_t(c * kWidth + r)], r < rows ? from[std::size_t(r * kCols + c)] : T(0));
  }
}

}  // namespace
}  // namespace lockstep::test
