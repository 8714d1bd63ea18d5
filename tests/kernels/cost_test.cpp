// Costs are counted from the mathematics: a few by hand.
#include "lockstep/kernels/cost.hpp"

#include <gtest/gtest.h>

#include "lockstep/kernels/table.hpp"

namespace lockstep {
namespace {

TEST(Cost, Linear) {
  constexpr Cost c = linear_cost(784, 128, 64, 4);
  EXPECT_EQ(c.flops, 2.0 * 784 * 128 * 64);
  EXPECT_EQ(c.bytes, 4.0 * (784 * 64 + 784 * 128 + 128 + 128 * 64));
}

TEST(Cost, Conv2dOfLeNet) {
  // 6 maps of 28x28, 25 products each: 117600 products per image, the number every LeNet-5 table gives.
  constexpr Conv2dGeometry g{
      .in_height = 28, .in_width = 28, .out_channels = 6, .kernel_h = 5, .kernel_w = 5, .pad_h = 2, .pad_w = 2};
  constexpr Cost c = conv2d_cost(g, 1, 4);
  EXPECT_EQ(c.flops, 2.0 * 117600);
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
