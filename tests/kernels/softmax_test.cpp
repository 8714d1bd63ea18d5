#include "lockstep/kernels/softmax.hpp"

#include "lockstep/kernels/math/elementary.hpp"
#include "tests/kernels/support.hpp"

namespace lockstep::test {
namespace {

template <class T>
TestMatrix<T> forward(const TestMatrix<T>& x) {
  TestMatrix<T> y(x.rows(), x.cols());
  KernelContext context;
  make_naive_table<T>().softmax_forward({.x = x.view(), .y = y.view()}, context);
  return y;
}

template <class T>
TestMatrix<T> backward(const TestMatrix<T>& y, const TestMatrix<T>& dy) {
  TestMatrix<T> dx(y.rows(), y.cols());
  KernelContext context;
  make_naive_table<T>().softmax_backward({.y = y.view(), .dy = dy.view(), .dx = dx.view()}, context);
  return dx;
}

TEST(Softmax, GradientsMatchCentralDifferences) {
  for (const std::int64_t features : {1, 2, 3, 10, 17})
    for (const std::int64_t samples : {1, 5, 16}) {
      TestMatrix<double> x(features, samples, 1);
      const TestMatrix<double> dy(features, samples, 2);
      const auto objective = [&] { return weighted_sum(dy, forward(x)); };
      EXPECT_LT(gradient_error(x, backward(forward(x), dy), objective), kGradientTolerance) << features;
    }
}

template <class T>
class SoftmaxOrder : public ::testing::Test {};
TYPED_TEST_SUITE(SoftmaxOrder, Scalars);

TYPED_TEST(SoftmaxOrder, SumsAreChainsOverFeatures) {
  using T = TypeParam;
  const TestMatrix<T> x(11, 9, 1), dy(11, 9, 2);
  const auto y = forward(x), dx = backward(y, dy);
  for (std::int64_t s = 0; s < 9; ++s) {
    T largest = x(0, s), sum = T(0), dot = T(0);
    for (std::int64_t k = 1; k < 11; ++k) largest = std::max(largest, x(k, s));
    for (std::int64_t k = 0; k < 11; ++k) sum += math::exp(x(k, s) - largest);
    for (std::int64_t k = 0; k < 11; ++k) EXPECT_EQ(y(k, s), math::exp(x(k, s) - largest) / sum);
    for (std::int64_t k = 0; k < 11; ++k) dot = std::fma(dy(k, s), y(k, s), dot);
    for (std::int64_t k = 0; k < 11; ++k) EXPECT_EQ(dx(k, s), y(k, s) * (dy(k, s) - dot));
  }
}

TYPED_TEST(SoftmaxOrder, InPlaceGivesTheSameBits) {
  using T = TypeParam;
  const TestMatrix<T> x(7, 5, 1), dy(7, 5, 2);
  KernelContext context;
  auto buffer = x;
  make_naive_table<T>().softmax_forward({.x = buffer.view(), .y = buffer.view()}, context);
  const auto y = forward(x);
  EXPECT_TRUE(identical(buffer, y));
  buffer = dy;
  make_naive_table<T>().softmax_backward({.y = y.view(), .dy = buffer.view(), .dx = buffer.view()}, context);
  EXPECT_TRUE(identical(buffer, backward(y, dy)));
}

TYPED_TEST(SoftmaxOrder, HugeInputsDoNotOverflow) {
  using T = TypeParam;
  TestMatrix<T> x(3, 1);
  x(0, 0) = T(1e4);
  x(1, 0) = T(-1e4);
  x(2, 0) = T(1e4);
  EXPECT_EQ(elements(forward(x)), (std::vector<T>{T(0.5), T(0), T(0.5)}));
}

}  // namespace
}  // namespace lockstep::test
