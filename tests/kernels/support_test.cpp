// The tools of the kernel tests must be able to fail.
#include "tests/kernels/support.hpp"

namespace lockstep::test {
namespace {

TEST(Support, IdenticalSeesOneBit) {
  const TestMatrix<float> a(3, 5, 1);
  TestMatrix<float> b = a;
  EXPECT_TRUE(identical(a, b));
  b(2, 4) = std::nextafter(b(2, 4), 2.0F);
  EXPECT_FALSE(identical(a, b));
}

TEST(Support, IdenticalSeesSignOfZeroAndNan) {
  const std::vector<double> zero = {0.0}, minus_zero = {-0.0}, nan = {kNan<double>};
  EXPECT_FALSE(identical(zero, minus_zero));
  EXPECT_FALSE(identical(zero, nan));
  EXPECT_TRUE(identical(nan, nan));
}

TEST(Support, IdenticalSeesShapes) {
  EXPECT_FALSE(identical(TestMatrix<float>(2, 3), TestMatrix<float>(3, 2)));
  EXPECT_FALSE(identical(std::vector<float>{1}, std::vector<float>{1, 2}));
}

TEST(Support, GradientErrorSeesAWrongElementAndNan) {
  TestMatrix<double> x(2, 3, 2), gradient(2, 3);
  const auto cubes = [&] {
    double sum = 0;
    for (std::int64_t r = 0; r < 2; ++r)
      for (std::int64_t s = 0; s < 3; ++s) sum += x(r, s) * x(r, s) * x(r, s);
    return sum;
  };
  for (std::int64_t r = 0; r < 2; ++r)
    for (std::int64_t s = 0; s < 3; ++s) gradient(r, s) = 3 * x(r, s) * x(r, s);
  EXPECT_LT(gradient_error(x, gradient, cubes), kGradientTolerance);
  gradient(1, 1) *= 1.00001;
  EXPECT_GT(gradient_error(x, gradient, cubes), kGradientTolerance);
  gradient(1, 1) = kNan<double>;
  EXPECT_GT(gradient_error(x, gradient, cubes), 1.0);
}

TEST(Support, MatricesArePaddedWithNan) {
  const TestMatrix<double> m(2, 3, 3);
  const ConstMatrix<double> view = m.view();
  EXPECT_GT(view.stride, view.cols);
  EXPECT_TRUE(std::isnan(view.data[view.cols]));
  EXPECT_TRUE(std::isnan(TestMatrix<double>(1, 1)(0, 0)));
}

}  // namespace
}  // namespace lockstep::test
