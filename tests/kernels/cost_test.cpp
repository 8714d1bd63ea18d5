// Costs are counted from what is computed: a few by hand, windows against a count of every tap.
#include "lockstep/kernels/cost.hpp"

#include <gtest/gtest.h>

#include <random>

#include "lockstep/kernels/table.hpp"

namespace lockstep {
namespace {

TEST(Cost, Linear) {
  constexpr Cost c = linear_cost(784, 128, 64, 4);
  EXPECT_EQ(c.flops, 2.0 * 784 * 128 * 64);
  EXPECT_EQ(c.bytes, 4.0 * (784 * 64 + 784 * 128 + 128 + 128 * 64));
}

TEST(Cost, Conv2dOfLeNet) {
  // 6 maps of 28x28 with a kernel of 5x5. Along an axis 28 * 5 taps, of which 1 + 2 on each side lie in the padding.
  constexpr Conv2dGeometry g{
      .in_height = 28, .in_width = 28, .out_channels = 6, .kernel_h = 5, .kernel_w = 5, .pad_h = 2, .pad_w = 2};
  constexpr Cost c = conv2d_cost(g, 1, 4);
  EXPECT_EQ(c.flops, 2.0 * 6 * 134 * 134);
  EXPECT_EQ(c.bytes, 4.0 * (28 * 28 + 6 * 25 + 6 + 6 * 28 * 28));
}

TEST(Cost, GroupsDivideTheWork) {
  const Conv2dGeometry dense{
      .in_channels = 8, .in_height = 5, .in_width = 5, .out_channels = 8, .kernel_h = 3, .kernel_w = 3};
  Conv2dGeometry grouped = dense;
  grouped.groups = 4;
  EXPECT_EQ(conv2d_cost(dense, 3, 8).flops, 4 * conv2d_cost(grouped, 3, 8).flops);
}

TEST(Cost, Pooling) {
  const Pool2dGeometry g{
      .channels = 6, .in_height = 28, .in_width = 28, .window_h = 2, .window_w = 2, .stride_h = 2, .stride_w = 2};
  EXPECT_EQ(pool2d_cost(g, 2, 4).flops, 2.0 * 6 * 14 * 14 * 4);
  EXPECT_EQ(pool2d_cost(g, 2, 4).bytes, 4.0 * 2 * 6 * (28 * 28 + 14 * 14));
}

/// Every output with every tap, one by one.
std::int64_t counted(const Conv2dGeometry& g) {
  std::int64_t taps = 0;
  for (std::int64_t oy = 0; oy < g.out_height(); ++oy)
    for (std::int64_t ox = 0; ox < g.out_width(); ++ox)
      for (std::int64_t ky = 0; ky < g.kernel_h; ++ky)
        for (std::int64_t kx = 0; kx < g.kernel_w; ++kx) {
          const std::int64_t iy = oy * g.stride_h + ky * g.dilation_h - g.pad_h,
                             ix = ox * g.stride_w + kx * g.dilation_w - g.pad_w;
          taps += iy >= 0 && iy < g.in_height && ix >= 0 && ix < g.in_width;
        }
  return taps * g.out_channels * g.in_per_group();
}

TEST(Cost, TapsInThePaddingDoNotCount) {
  const Conv2dGeometry small{.in_height = 2, .in_width = 2, .kernel_h = 3, .kernel_w = 3, .pad_h = 1, .pad_w = 1};
  EXPECT_EQ(conv2d_cost(small, 1, 4).flops, 2.0 * 4 * 4) << "every pixel with every pixel, not 9 taps each";
  std::mt19937 random(17);
  const auto draw = [&](int low, int high) {
    return low + static_cast<std::int64_t>(random() % static_cast<unsigned>(high - low + 1));
  };
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t groups = draw(1, 3);
    const Conv2dGeometry g{.in_channels = groups * draw(1, 3),
                           .in_height = draw(1, 12),
                           .in_width = draw(1, 12),
                           .out_channels = groups * draw(1, 3),
                           .kernel_h = draw(1, 5),
                           .kernel_w = draw(1, 5),
                           .stride_h = draw(1, 3),
                           .stride_w = draw(1, 3),
                           .pad_h = draw(0, 7),
                           .pad_w = draw(0, 7),
                           .dilation_h = draw(1, 4),
                           .dilation_w = draw(1, 4),
                           .groups = groups};
    if (g.in_height + 2 * g.pad_h < g.dilation_h * (g.kernel_h - 1) + 1) continue;
    if (g.in_width + 2 * g.pad_w < g.dilation_w * (g.kernel_w - 1) + 1) continue;
    EXPECT_EQ(conv2d_cost(g, 3, 4).flops, 2.0 * 3 * double(counted(g))) << i;
    if (g.dilation_h > 1 || g.dilation_w > 1) continue;
    const Pool2dGeometry pool{g.in_channels, g.in_height, g.in_width, g.kernel_h, g.kernel_w,
                              g.stride_h,    g.stride_w,  g.pad_h,    g.pad_w};
    const std::int64_t per_channel = counted(g) / g.out_channels / g.in_per_group();
    EXPECT_EQ(pool2d_cost(pool, 3, 4).flops, 3 * double(per_channel * pool.channels));
  }
}

TEST(Cost, Sums) {
  const Cost c = 3 * (add_cost(10, 2, 4) + Cost{1, 2});
  EXPECT_EQ(c.flops, 3 * (20.0 + 1));
  EXPECT_EQ(c.bytes, 3 * (240.0 + 2));
}

TEST(Cost, OptimisersMoveTheirState) {
  EXPECT_EQ(optimizer_cost(100, 0, 4).bytes, 1200) << "read w and g, write w";
  EXPECT_EQ(optimizer_cost(100, 2, 4).bytes, 2800) << "Adam reads and writes m and v too";
}

}  // namespace
}  // namespace lockstep
