#include "lockstep/kernels/conv2d.hpp"

#include "tests/kernels/conv2d_problem.hpp"

namespace lockstep::test {
namespace {

TEST(Conv2d, GradientsMatchCentralDifferences) {
  for (const NamedGeometry& geometry : kGeometries) {
    ConvProblem<double> p(geometry.g, 3);
    const auto objective = [&] { return weighted_sum(p.dy, p.forward()); };
    const Cut cut({1, 2});
    const auto gradient = p.backward_weights(0, 3, cut.slots());
    EXPECT_LT(gradient_error(p.x, p.backward_data(), objective), kGradientTolerance) << geometry.name;
    EXPECT_LT(gradient_error(p.w, gradient.dw, objective), kGradientTolerance) << geometry.name;
    EXPECT_LT(gradient_error(p.b, gradient.db, objective), kGradientTolerance) << geometry.name;
  }
}

TEST(Conv2d, OutputSizes) {
  const Conv2dGeometry lenet{.in_height = 28, .in_width = 28, .kernel_h = 5, .kernel_w = 5, .pad_h = 2, .pad_w = 2};
  EXPECT_EQ(lenet.out_height(), 28);
  const Conv2dGeometry strided{
      .in_height = 7, .in_width = 8, .kernel_h = 3, .kernel_w = 3, .stride_h = 2, .stride_w = 2};
  EXPECT_EQ(strided.out_height(), 3);
  EXPECT_EQ(strided.out_width(), 3);
  const Conv2dGeometry dilated{
      .in_height = 9, .in_width = 9, .kernel_h = 3, .kernel_w = 3, .dilation_h = 4, .dilation_w = 3};
  EXPECT_EQ(dilated.out_height(), 1);
  EXPECT_EQ(dilated.out_width(), 3);
}

TEST(Conv2d, ByHand) {
  // 1 2 3      1 10      cross-correlation, not convolution: y(0,0) = 1*1 + 2*10 + 4*100 + 5*1000
  // 4 5 6      100 1000
  ConvProblem<double> p({.in_height = 2, .in_width = 3, .kernel_h = 2, .kernel_w = 2}, 1);
  for (std::int64_t i = 0; i < 6; ++i) p.x(i, 0) = double(i + 1);
  p.w = {1, 10, 100, 1000};
  p.b = {0.5};
  const TestMatrix<double> y = p.forward();
  EXPECT_EQ(y(0, 0), 5421.5);
  EXPECT_EQ(y(1, 0), 6532.5);
}

TEST(Conv2d, TapsInThePaddingAreSkipped) {
  // An infinite weight that only ever meets the padding must not turn 0 * inf into NaN.
  ConvProblem<float> p({.kernel_h = 3, .kernel_w = 3, .pad_h = 1, .pad_w = 1}, 2);
  for (std::size_t k = 0; k < 9; ++k)
    if (k != 4) p.w[k] = std::numeric_limits<float>::infinity();
  const TestMatrix<float> y = p.forward(), dx = p.backward_data();
  for (std::int64_t s = 0; s < 2; ++s) {
    EXPECT_TRUE(std::isfinite(y(0, s)));
    EXPECT_TRUE(std::isfinite(dx(0, s)));
  }
}

TEST(Conv2d, WindowsOutsideTheImageGiveTheBias) {
  // pad 2 around one pixel under a 1x1 kernel: only the middle output sees it.
  const ConvProblem<double> p({.pad_h = 2, .pad_w = 2}, 1);
  const TestMatrix<double> y = p.forward();
  for (std::int64_t pixel = 0; pixel < 25; ++pixel)
    EXPECT_EQ(y(pixel, 0), pixel == 12 ? std::fma(p.w[0], p.x(0, 0), p.b[0]) : p.b[0]) << pixel;
}

TEST(Conv2d, NoSamplesGiveZeroGradients) {
  const ConvProblem<double> p(kGeometries.back().g, 0);
  const Cut cut({0, 0});
  const auto gradient = p.backward_weights(0, 0, cut.slots(), false);
  EXPECT_TRUE(identical(gradient.dw, std::vector<double>(gradient.dw.size(), 0.0)));
  EXPECT_TRUE(identical(gradient.db, nan_vector<double>(p.g.out_channels))) << "without a bias db is not touched";
}

}  // namespace
}  // namespace lockstep::test
