#pragma once
// Convolutions at awkward geometries, shared by the gradient tests and the tests of the order of sums.

#include "lockstep/kernels/conv2d.hpp"
#include "tests/kernels/support.hpp"

namespace lockstep::test {

struct NamedGeometry {
  const char* name;
  Conv2dGeometry g;
};

inline const std::vector<NamedGeometry> kGeometries = {
    {"one pixel", {}},
    {"1x1 over channels", {.in_channels = 5, .in_height = 3, .in_width = 2, .out_channels = 3}},
    {"3x3 pad 1",
     {.in_channels = 2,
      .in_height = 5,
      .in_width = 4,
      .out_channels = 3,
      .kernel_h = 3,
      .kernel_w = 3,
      .pad_h = 1,
      .pad_w = 1}},
    {"row kernel", {.in_height = 3, .in_width = 7, .out_channels = 2, .kernel_h = 1, .kernel_w = 5, .pad_w = 2}},
    {"stride leaves a rest",
     {.in_channels = 2,
      .in_height = 6,
      .in_width = 7,
      .out_channels = 2,
      .kernel_h = 3,
      .kernel_w = 2,
      .stride_h = 2,
      .stride_w = 3}},
    {"stride above kernel", {.in_height = 7, .in_width = 7, .out_channels = 3, .stride_h = 3, .stride_w = 2}},
    {"dilation",
     {.in_channels = 2,
      .in_height = 7,
      .in_width = 6,
      .out_channels = 2,
      .kernel_h = 3,
      .kernel_w = 2,
      .pad_h = 2,
      .pad_w = 1,
      .dilation_h = 2,
      .dilation_w = 3}},
    {"groups",
     {.in_channels = 6, .in_height = 3, .in_width = 3, .out_channels = 4, .kernel_h = 2, .kernel_w = 2, .groups = 2}},
    {"depthwise, two outputs per channel",
     {.in_channels = 3,
      .in_height = 4,
      .in_width = 3,
      .out_channels = 6,
      .kernel_h = 3,
      .kernel_w = 3,
      .pad_h = 1,
      .pad_w = 1,
      .groups = 3}},
    {"kernel larger than the image",
     {.in_channels = 2,
      .in_height = 2,
      .in_width = 3,
      .out_channels = 2,
      .kernel_h = 5,
      .kernel_w = 5,
      .pad_h = 2,
      .pad_w = 2}},
    {"everything",
     {.in_channels = 4,
      .in_height = 9,
      .in_width = 8,
      .out_channels = 6,
      .kernel_h = 3,
      .kernel_w = 2,
      .stride_h = 2,
      .stride_w = 3,
      .pad_h = 3,
      .pad_w = 1,
      .dilation_h = 2,
      .dilation_w = 2,
      .groups = 2}},
};

inline std::int64_t in_rows(const Conv2dGeometry& g) { return g.in_channels * g.in_height * g.in_width; }
inline std::int64_t out_rows(const Conv2dGeometry& g) { return g.out_channels * g.out_height() * g.out_width(); }
inline std::int64_t weight_count(const Conv2dGeometry& g) {
  return g.out_channels * g.in_per_group() * g.kernel_h * g.kernel_w;
}

template <class T>
struct ConvWeightGradient {
  std::vector<T> dw, db;
};

template <class T>
struct ConvProblem {
  Conv2dGeometry g;
  TestMatrix<T> x, dy;
  std::vector<T> w, b;

  ConvProblem(const Conv2dGeometry& geometry, std::int64_t samples)
      : g(geometry),
        x(in_rows(g), samples, 1),
        dy(out_rows(g), samples, 2),
        w(random_vector<T>(weight_count(g), 3)),
        b(random_vector<T>(g.out_channels, 4)) {}

  TestMatrix<T> forward(bool bias = true) const {
    TestMatrix<T> y(out_rows(g), x.cols());
    KernelContext context;
    make_naive_table<T>().conv2d_forward(
        {.geometry = g, .x = x.view(), .w = w.data(), .b = bias ? b.data() : nullptr, .y = y.view()}, context);
    return y;
  }
  TestMatrix<T> backward_data() const {
    TestMatrix<T> dx(in_rows(g), x.cols());
    KernelContext context;
    make_naive_table<T>().conv2d_backward_data({.geometry = g, .w = w.data(), .dy = dy.view(), .dx = dx.view()},
                                               context);
    return dx;
  }
  /// The sum over columns [first, last), cut into `slots` (bounds counted from `first`).
  ConvWeightGradient<T> backward_weights(std::int64_t first, std::int64_t last, const Slots& slots,
                                         bool bias = true) const {
    ConvWeightGradient<T> out{nan_vector<T>(weight_count(g)), nan_vector<T>(g.out_channels)};
    KernelContext context;
    make_naive_table<T>().conv2d_backward_weights({.geometry = g,
                                                   .x = x.columns(first, last),
                                                   .dy = dy.columns(first, last),
                                                   .slots = slots,
                                                   .dw = out.dw.data(),
                                                   .db = bias ? out.db.data() : nullptr},
                                                  context);
    return out;
  }
};

}  // namespace lockstep::test
