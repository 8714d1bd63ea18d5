#include "lockstep/kernels/dropout.hpp"

#include "tests/kernels/support.hpp"

namespace lockstep::test {
namespace {

const RandomKey kKey{.seed = 5, .purpose = Purpose::dropout, .epoch = 3, .layer = 2};

template <class T>
TestMatrix<T> apply(const TestMatrix<T>& x, const std::vector<std::int64_t>& ids, double p,
                    const RandomKey& key = kKey) {
  TestMatrix<T> y(x.rows(), x.cols());
  KernelContext context;
  make_naive_table<T>().dropout_apply({.key = key, .sample_ids = ids, .p = p, .x = x.view(), .y = y.view()}, context);
  return y;
}

template <class T>
class DropoutKernel : public ::testing::Test {};
TYPED_TEST_SUITE(DropoutKernel, Scalars);

TYPED_TEST(DropoutKernel, KeepsByWordsOfTheSample) {
  using T = TypeParam;
  const std::vector<std::int64_t> ids = {7, 0, 123456789012};
  const TestMatrix<T> x(11, 3, 1);
  for (const double p : {0.0, 0.1, 0.5, 0.999}) {
    const auto y = apply(x, ids, p);
    for (std::size_t s = 0; s < 3; ++s)
      for (std::int64_t e = 0; e < 11; ++e) {
        RandomKey key = kKey;
        key.sample = std::uint64_t(ids[s]);
        const std::uint32_t word = random_block(key, std::uint64_t(e / 4))[std::size_t(e % 4)];
        const T kept = x(e, std::int64_t(s)) * T(1 / (1 - p));
        EXPECT_EQ(y(e, std::int64_t(s)), double(word) >= p * 4294967296.0 ? kept : T(0)) << "p " << p;
      }
  }
}

TYPED_TEST(DropoutKernel, KeepsAtTheThreshold) {
  using T = TypeParam;
  RandomKey key = kKey;
  key.sample = 7;
  const std::uint32_t word = random_block(key, 0)[2];
  const TestMatrix<T> x(3, 1, 1);
  EXPECT_NE(apply(x, {7}, double(word) / 4294967296.0)(2, 0), T(0));
  EXPECT_EQ(apply(x, {7}, (double(word) + 1) / 4294967296.0)(2, 0), T(0));
}

TYPED_TEST(DropoutKernel, IgnoresTheColumn) {
  using T = TypeParam;
  TestMatrix<T> x(20, 4);
  for (std::int64_t r = 0; r < 20; ++r)
    for (std::int64_t s = 0; s < 4; ++s) x(r, s) = T(r + 1);
  const auto y = apply(x, {3, 9, 3, 27}, 0.5), other = apply(x, {27, 3, 9, 9}, 0.5);
  for (std::int64_t r = 0; r < 20; ++r) {
    EXPECT_EQ(y(r, 0), y(r, 2));
    EXPECT_EQ(y(r, 3), other(r, 0));
    EXPECT_EQ(y(r, 1), other(r, 2));
  }
  EXPECT_FALSE(identical(y, other));
}

TYPED_TEST(DropoutKernel, KeysChangeTheMask) {
  using T = TypeParam;
  const TestMatrix<T> x(40, 1, 1);
  const auto y = apply(x, {1}, 0.5);
  for (const RandomKey& key : {RandomKey{6, Purpose::dropout, 3, 0, 2}, RandomKey{5, Purpose::dropout, 4, 0, 2},
                               RandomKey{5, Purpose::dropout, 3, 0, 1}})
    EXPECT_FALSE(identical(apply(x, {1}, 0.5, key), y));
}

TYPED_TEST(DropoutKernel, InPlaceGivesTheSameBits) {
  using T = TypeParam;
  const TestMatrix<T> x(9, 2, 1);
  const std::vector<std::int64_t> ids = {4, 5};
  auto buffer = x;
  KernelContext context;
  make_naive_table<T>().dropout_apply(
      {.key = kKey, .sample_ids = ids, .p = 0.3, .x = buffer.view(), .y = buffer.view()}, context);
  EXPECT_TRUE(identical(buffer, apply(x, ids, 0.3)));
}

TEST(Dropout, DropsTheShareItIsTold) {
  TestMatrix<double> x(1000, 10);
  for (std::int64_t r = 0; r < 1000; ++r)
    for (std::int64_t s = 0; s < 10; ++s) x(r, s) = 1;
  const auto y = apply(x, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 0.3);
  double zeros = 0;
  for (const double v : elements(y)) zeros += v == 0 ? 1 : 0;
  EXPECT_NEAR(zeros / 10000, 0.3, 4 * std::sqrt(0.3 * 0.7 / 10000));
}

TEST(Dropout, BackwardIsTheDerivative) {
  TestMatrix<double> x(7, 3, 1);
  const std::vector<std::int64_t> ids = {2, 4, 8};
  const TestMatrix<double> dy(7, 3, 2);
  const auto objective = [&] { return weighted_sum(dy, apply(x, ids, 0.4)); };
  EXPECT_LT(gradient_error(x, apply(dy, ids, 0.4), objective), kGradientTolerance);
}

}  // namespace
}  // namespace lockstep::test
