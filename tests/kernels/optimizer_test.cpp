#include "lockstep/kernels/optimizer.hpp"

#include "tests/kernels/support.hpp"

namespace lockstep::test {
namespace {

constexpr std::int64_t kCount = 37;

template <class T>
class OptimizerKernels : public ::testing::Test {
 protected:
  std::vector<T> g0 = random_vector<T>(kCount, 1), w0 = random_vector<T>(kCount, 2), m0 = random_vector<T>(kCount, 3),
                 v0 = random_vector<T>(kCount, 4, 0, 1);
  const KernelTable<T> kernels = make_naive_table<T>();
  KernelContext context;
};
TYPED_TEST_SUITE(OptimizerKernels, Scalars);

TYPED_TEST(OptimizerKernels, L2AndScale) {
  using T = TypeParam;
  auto g = this->g0;
  this->kernels.add_l2({.count = kCount, .l2 = T(0.3), .w = this->w0.data(), .g = g.data()}, this->context);
  for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(g[i], std::fma(T(0.3), this->w0[i], this->g0[i]));
  auto scaled = g;
  this->kernels.scale_gradient({.count = kCount, .factor = T(0.7), .g = scaled.data()}, this->context);
  for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(scaled[i], g[i] * T(0.7));
}

TYPED_TEST(OptimizerKernels, Sgd) {
  using T = TypeParam;
  const T lr = T(0.1), momentum = T(0.9);
  auto plain = this->w0, heavy = this->w0, nesterov = this->w0;
  auto heavy_v = this->m0, nesterov_v = this->m0;
  const T* g = this->g0.data();
  this->kernels.sgd_step(
      {.count = kCount, .lr = lr, .momentum = T(0), .nesterov = false, .g = g, .w = plain.data(), .v = nullptr},
      this->context);
  this->kernels.sgd_step({.count = kCount,
                          .lr = lr,
                          .momentum = momentum,
                          .nesterov = false,
                          .g = g,
                          .w = heavy.data(),
                          .v = heavy_v.data()},
                         this->context);
  this->kernels.sgd_step({.count = kCount,
                          .lr = lr,
                          .momentum = momentum,
                          .nesterov = true,
                          .g = g,
                          .w = nesterov.data(),
                          .v = nesterov_v.data()},
                         this->context);
  for (std::size_t i = 0; i < kCount; ++i) {
    const T velocity = std::fma(momentum, this->m0[i], this->g0[i]);
    EXPECT_EQ(plain[i], std::fma(-lr, this->g0[i], this->w0[i]));
    EXPECT_EQ(heavy_v[i], velocity);
    EXPECT_EQ(heavy[i], std::fma(-lr, velocity, this->w0[i]));
    EXPECT_EQ(nesterov_v[i], velocity);
    EXPECT_EQ(nesterov[i], std::fma(-lr, std::fma(momentum, velocity, this->g0[i]), this->w0[i]));
  }
}

template <class T>
AdamStep<T> adam(std::int64_t first, std::int64_t count, const std::vector<T>& g, std::vector<T>& w, std::vector<T>& m,
                 std::vector<T>& v) {
  return {.count = count,
          .rate = T(0.01),
          .inv_root2 = T(1.5),
          .beta1 = T(0.9),
          .beta2 = T(0.999),
          .eps = T(1e-8),
          .decay_factor = T(0.99),
          .g = g.data() + first,
          .w = w.data() + first,
          .m = m.data() + first,
          .v = v.data() + first};
}

TYPED_TEST(OptimizerKernels, AdamInAnySplit) {
  using T = TypeParam;
  auto w = this->w0, m = this->m0, v = this->v0;
  auto split_w = this->w0, split_m = this->m0, split_v = this->v0;
  this->kernels.adam_step(adam(0, kCount, this->g0, w, m, v), this->context);
  for (std::int64_t first = 0; first < kCount; first += 5)
    this->kernels.adam_step(adam(first, std::min<std::int64_t>(5, kCount - first), this->g0, split_w, split_m, split_v),
                            this->context);
  EXPECT_TRUE(identical(split_w, w));
  EXPECT_TRUE(identical(split_m, m));
  EXPECT_TRUE(identical(split_v, v));
  for (std::size_t i = 0; i < kCount; ++i) {
    const T g = this->g0[i];
    const T m1 = std::fma(T(1) - T(0.9), g, T(0.9) * this->m0[i]);
    const T v1 = std::fma((T(1) - T(0.999)) * g, g, T(0.999) * this->v0[i]);
    EXPECT_EQ(m[i], m1);
    EXPECT_EQ(v[i], v1);
    EXPECT_EQ(w[i], std::fma(-T(0.01), m1 / std::fma(std::sqrt(v1), T(1.5), T(1e-8)), this->w0[i] * T(0.99)));
  }
}

TYPED_TEST(OptimizerKernels, Rmsprop) {
  using T = TypeParam;
  auto w = this->w0, v = this->v0;
  this->kernels.rmsprop_step({.count = kCount,
                              .lr = T(0.01),
                              .alpha = T(0.99),
                              .eps = T(1e-8),
                              .g = this->g0.data(),
                              .w = w.data(),
                              .v = v.data()},
                             this->context);
  for (std::size_t i = 0; i < kCount; ++i) {
    const T g = this->g0[i], v1 = std::fma((T(1) - T(0.99)) * g, g, T(0.99) * this->v0[i]);
    EXPECT_EQ(v[i], v1);
    EXPECT_EQ(w[i], std::fma(-T(0.01), g / (std::sqrt(v1) + T(1e-8)), this->w0[i]));
  }
}

TYPED_TEST(OptimizerKernels, Lion) {
  using T = TypeParam;
  auto w = this->w0, m = this->m0;
  m[0] = -T(0.1) / T(0.9) * this->g0[0] * 1000;  // a mean that is not of the gradient's sign
  const T m_zero = m[1] = 0;
  auto g = this->g0;
  g[1] = 0;  // sign(0) = 0
  const auto m_before = m;
  this->kernels.lion_step({.count = kCount,
                           .lr = T(0.01),
                           .beta1 = T(0.9),
                           .beta2 = T(0.99),
                           .decay_factor = T(0.999),
                           .g = g.data(),
                           .w = w.data(),
                           .m = m.data()},
                          this->context);
  EXPECT_EQ(w[1], this->w0[1] * T(0.999));
  EXPECT_EQ(m[1], m_zero);
  for (std::size_t i = 0; i < kCount; ++i) {
    const T mean = std::fma(T(1) - T(0.9), g[i], T(0.9) * m_before[i]);
    const T u = T((mean > 0) - (mean < 0));
    EXPECT_EQ(w[i], std::fma(-T(0.01), u, this->w0[i] * T(0.999)));
    EXPECT_EQ(m[i], std::fma(T(1) - T(0.99), g[i], T(0.99) * m_before[i]));
  }
}

TYPED_TEST(OptimizerKernels, SquareSumsInDouble) {
  using T = TypeParam;
  for (const std::int64_t count :
       {std::int64_t{1}, kSquareBlock - 1, kSquareBlock, kSquareBlock + 1, 3 * kSquareBlock + 7}) {
    const auto x = random_vector<T>(count, 5);
    const std::int64_t blocks = (count + kSquareBlock - 1) / kSquareBlock;
    auto partial = nan_vector<double>(blocks);
    this->kernels.square_sums({.count = count, .x = x.data(), .partial = partial.data()}, this->context);
    std::vector<double> expected(std::size_t(blocks), 0.0);
    for (std::int64_t i = 0; i < count; ++i) {
      double& sum = expected[std::size_t(i / kSquareBlock)];
      sum = std::fma(double(x[std::size_t(i)]), double(x[std::size_t(i)]), sum);
    }
    EXPECT_TRUE(identical(partial, expected)) << count;
  }
}

TYPED_TEST(OptimizerKernels, NothingToDo) {
  using T = TypeParam;
  this->kernels.sgd_step(
      {.count = 0, .lr = T(1), .momentum = T(0), .nesterov = false, .g = nullptr, .w = nullptr, .v = nullptr},
      this->context);
  this->kernels.square_sums({.count = 0, .x = nullptr, .partial = nullptr}, this->context);
}

}  // namespace
}  // namespace lockstep::test
