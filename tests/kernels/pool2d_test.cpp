#include "lockstep/kernels/pool2d.hpp"

#include "tests/kernels/support.hpp"

namespace lockstep::test {
namespace {

struct NamedGeometry {
  const char* name;
  Pool2dGeometry g;
};

const std::vector<NamedGeometry> kGeometries = {
    {"one pixel", {}},
    {"2x2", {.channels = 3, .in_height = 4, .in_width = 6, .window_h = 2, .window_w = 2, .stride_h = 2, .stride_w = 2}},
    {"overlapping",
     {.channels = 2, .in_height = 5, .in_width = 7, .window_h = 3, .window_w = 3, .stride_h = 2, .stride_w = 1}},
    {"padded",
     {.channels = 2,
      .in_height = 5,
      .in_width = 3,
      .window_h = 3,
      .window_w = 2,
      .stride_h = 1,
      .stride_w = 2,
      .pad_h = 1,
      .pad_w = 1}},
    {"rows left over",
     {.channels = 1, .in_height = 7, .in_width = 5, .window_h = 2, .window_w = 2, .stride_h = 3, .stride_w = 2}},
    {"whole image", {.channels = 5, .in_height = 3, .in_width = 7, .window_h = 3, .window_w = 7}},
    {"row window",
     {.channels = 1, .in_height = 2, .in_width = 11, .window_h = 1, .window_w = 5, .stride_w = 3, .pad_w = 2}},
};

std::int64_t in_rows(const Pool2dGeometry& g) { return g.channels * g.in_height * g.in_width; }
std::int64_t out_rows(const Pool2dGeometry& g) { return g.channels * g.out_height() * g.out_width(); }

template <class T>
TestMatrix<T> max_forward(const Pool2dGeometry& g, const TestMatrix<T>& x) {
  TestMatrix<T> y(out_rows(g), x.cols());
  KernelContext context;
  make_naive_table<T>().max_pool2d_forward({.geometry = g, .x = x.view(), .y = y.view()}, context);
  return y;
}

template <class T>
TestMatrix<T> max_backward(const Pool2dGeometry& g, const TestMatrix<T>& x, const TestMatrix<T>& y,
                           const TestMatrix<T>& dy) {
  TestMatrix<T> dx(in_rows(g), x.cols());
  KernelContext context;
  make_naive_table<T>().max_pool2d_backward(
      {.geometry = g, .x = x.view(), .y = y.view(), .dy = dy.view(), .dx = dx.view()}, context);
  return dx;
}

template <class T>
TestMatrix<T> avg_forward(const Pool2dGeometry& g, const TestMatrix<T>& x) {
  TestMatrix<T> y(out_rows(g), x.cols());
  KernelContext context;
  make_naive_table<T>().avg_pool2d_forward({.geometry = g, .x = x.view(), .y = y.view()}, context);
  return y;
}

template <class T>
TestMatrix<T> avg_backward(const Pool2dGeometry& g, const TestMatrix<T>& dy) {
  TestMatrix<T> dx(in_rows(g), dy.cols());
  KernelContext context;
  make_naive_table<T>().avg_pool2d_backward({.geometry = g, .dy = dy.view(), .dx = dx.view()}, context);
  return dx;
}

/// All different by at least 1/16: no difference step can change which tap is largest.
TestMatrix<double> distinct_values(std::int64_t rows, std::int64_t cols) {
  const auto order = permutation(7, Purpose::data, 0, rows * cols);
  const std::int64_t middle = rows * cols / 2;
  TestMatrix<double> x(rows, cols);
  for (std::int64_t i = 0; i < rows * cols; ++i) x(i / cols, i % cols) = double(order[std::size_t(i)] - middle) / 16;
  return x;
}

TEST(MaxPool2d, GradientsMatchCentralDifferences) {
  for (const auto& [name, g] : kGeometries) {
    TestMatrix<double> x = distinct_values(in_rows(g), 3);
    const TestMatrix<double> dy(out_rows(g), 3, 2);
    const auto dx = max_backward(g, x, max_forward(g, x), dy);
    const auto objective = [&, &geometry = g] { return weighted_sum(dy, max_forward(geometry, x)); };
    EXPECT_LT(gradient_error(x, dx, objective), kGradientTolerance) << name;
  }
}

TEST(AvgPool2d, GradientsMatchCentralDifferences) {
  for (const auto& [name, g] : kGeometries) {
    TestMatrix<double> x(in_rows(g), 3, 1);
    const TestMatrix<double> dy(out_rows(g), 3, 2);
    const auto objective = [&, &geometry = g] { return weighted_sum(dy, avg_forward(geometry, x)); };
    EXPECT_LT(gradient_error(x, avg_backward(g, dy), objective), kGradientTolerance) << name;
  }
}

TEST(MaxPool2d, TiesGoToTheSmallestIndex) {
  const Pool2dGeometry g{.in_height = 2, .in_width = 2, .window_h = 2, .window_w = 2};
  TestMatrix<float> x(4, 2), dy(1, 2);
  const float columns[2][4] = {{0, 5, 5, 5}, {-1, -1, -1, -1}};
  for (std::int64_t s = 0; s < 2; ++s) {
    dy(0, s) = 3;
    for (std::int64_t i = 0; i < 4; ++i) x(i, s) = columns[s][i];
  }
  const auto y = max_forward(g, x), dx = max_backward(g, x, y, dy);
  EXPECT_EQ(y(0, 0), 5);
  EXPECT_EQ(y(0, 1), -1) << "the padding is not a zero";
  EXPECT_TRUE(identical(elements(dx), std::vector<float>{0, 3, 3, 0, 0, 0, 0, 0}));
}

TEST(MaxPool2d, OverlappingWindowsAddInTheirOrder) {
  // Three windows of three over five pixels, all won by the middle pixel: 0 + 1 + 2^-30 + -1, left to right.
  const Pool2dGeometry g{.in_width = 5, .window_w = 3};
  TestMatrix<float> x(5, 1), dy(3, 1);
  for (std::int64_t i = 0; i < 5; ++i) x(i, 0) = i == 2 ? 9.0F : float(i);
  dy(0, 0) = 1;
  dy(1, 0) = 0x1p-30F;
  dy(2, 0) = -1;
  const auto dx = max_backward(g, x, max_forward(g, x), dy);
  EXPECT_TRUE(identical(elements(dx), std::vector<float>{0, 0, 0, 0, 0}));
  EXPECT_TRUE(identical(elements(avg_backward(g, dy)),
                        std::vector<float>{1 / 3.0F, 1 / 3.0F, 0, (0x1p-30F - 1) / 3.0F, -1 / 3.0F}));
}

template <class T>
class Pool2dOrder : public ::testing::Test {};
TYPED_TEST_SUITE(Pool2dOrder, Scalars);

TYPED_TEST(Pool2dOrder, AverageIsAChain) {
  using T = TypeParam;
  for (const auto& [name, g] : kGeometries) {
    const TestMatrix<T> x(in_rows(g), 3, 1);
    TestMatrix<T> expected(out_rows(g), 3);
    for (std::int64_t out = 0; out < out_rows(g); ++out)
      for (std::int64_t s = 0; s < 3; ++s) {
        const std::int64_t ox = out % g.out_width(), oy = out / g.out_width() % g.out_height();
        T sum = T(0);
        for (std::int64_t in = 0; in < in_rows(g); ++in) {  // ascending rows are ascending (ky, kx)
          const std::int64_t kx = in % g.in_width + g.pad_w - ox * g.stride_w;
          const std::int64_t ky = in / g.in_width % g.in_height + g.pad_h - oy * g.stride_h;
          const bool same_channel = in / (g.in_width * g.in_height) == out / (g.out_width() * g.out_height());
          if (same_channel && kx >= 0 && kx < g.window_w && ky >= 0 && ky < g.window_h) sum += x(in, s);
        }
        expected(out, s) = sum * (T(1) / T(g.window_h * g.window_w));
      }
    EXPECT_TRUE(identical(avg_forward(g, x), expected)) << name;
  }
}

TYPED_TEST(Pool2dOrder, AverageGradientAddsFirst) {
  using T = TypeParam;
  for (const auto& [name, g] : kGeometries) {
    const TestMatrix<T> dy(out_rows(g), 3, 1);
    TestMatrix<T> expected(in_rows(g), 3);
    for (std::int64_t in = 0; in < in_rows(g); ++in)
      for (std::int64_t s = 0; s < 3; ++s) {
        T sum = T(0);
        for (std::int64_t out = 0; out < out_rows(g); ++out) {
          const std::int64_t kx = in % g.in_width + g.pad_w - out % g.out_width() * g.stride_w;
          const std::int64_t ky =
              in / g.in_width % g.in_height + g.pad_h - out / g.out_width() % g.out_height() * g.stride_h;
          const bool same_channel = in / (g.in_width * g.in_height) == out / (g.out_width() * g.out_height());
          if (same_channel && kx >= 0 && kx < g.window_w && ky >= 0 && ky < g.window_h) sum += dy(out, s);
        }
        expected(in, s) = sum * (T(1) / T(g.window_h * g.window_w));
      }
    EXPECT_TRUE(identical(avg_backward(g, dy), expected)) << name;
  }
}

TYPED_TEST(Pool2dOrder, NoSamples) {
  using T = TypeParam;
  const Pool2dGeometry& g = kGeometries[2].g;
  const TestMatrix<T> x(in_rows(g), 0), dy(out_rows(g), 0);
  EXPECT_EQ(max_forward(g, x).cols(), 0);
  EXPECT_EQ(avg_backward(g, dy).cols(), 0);
}

}  // namespace
}  // namespace lockstep::test
