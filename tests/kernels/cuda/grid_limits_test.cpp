// Shapes with more lines or groups than a grid has blocks along its second and third axis (65535).
#include <gtest/gtest.h>

#include "tests/kernels/conv2d_problem.hpp"
#include "tests/kernels/device/staged.hpp"

namespace lockstep::test {
namespace {

TEST(GridLimits, ConvolutionOfManyLines) {
  const Conv2dGeometry g{
      .in_channels = 1, .in_height = 65537, .in_width = 1, .out_channels = 1, .kernel_h = 1, .kernel_w = 1};
  const ConvProblem<float> p(g, 1);
  const KernelTable<float> table = staged_tables<float>().back();
  KernelContext context;
  TestMatrix<float> y(out_rows(g), 1), dx(in_rows(g), 1);
  table.conv2d_forward({.geometry = g, .x = p.x.view(), .w = p.w.data(), .b = p.b.data(), .y = y.view()}, context);
  table.conv2d_backward_data({.geometry = g, .w = p.w.data(), .dy = p.dy.view(), .dx = dx.view()}, context);
  EXPECT_TRUE(identical(elements(y), elements(p.forward())));
  EXPECT_TRUE(identical(elements(dx), elements(p.backward_data())));
}

TEST(GridLimits, WeightsOfManyGroups) {
  constexpr std::int64_t kGroups = 65537;
  const Conv2dGeometry g{.in_channels = kGroups,
                         .in_height = 1,
                         .in_width = 1,
                         .out_channels = kGroups,
                         .kernel_h = 1,
                         .kernel_w = 1,
                         .groups = kGroups};
  const ConvProblem<float> p(g, 1);
  const KernelTable<float> table = staged_tables<float>().back();
  KernelContext context;
  const Cut cut({1});
  auto dw = nan_vector<float>(weight_count(g)), db = nan_vector<float>(g.out_channels);
  table.conv2d_backward_weights(
      {.geometry = g, .x = p.x.view(), .dy = p.dy.view(), .slots = cut.slots(), .dw = dw.data(), .db = db.data()},
      context);
  const auto expected = p.backward_weights(0, 1, cut.slots());
  EXPECT_TRUE(identical(dw, expected.dw) && identical(db, expected.db));
}

}  // namespace
}  // namespace lockstep::test
