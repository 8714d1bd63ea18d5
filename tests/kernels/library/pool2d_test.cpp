// oneDNN's pooling against naive: max exactly, with ties; averages within rounding.
#include "lockstep/kernels/pool2d.hpp"

#include "tests/kernels/library/bounds.hpp"

namespace lockstep::test {
namespace {

// channels, height, width, window, stride, pad: windows that tile, overlap, leave gaps, reach into the padding
const Pool2dGeometry kGeometries[] = {
    {1, 1, 1, 1, 1, 1, 1, 0, 0}, {3, 4, 6, 2, 2, 2, 2, 0, 0}, {2, 5, 7, 2, 2, 2, 2, 0, 0},
    {2, 6, 6, 3, 3, 2, 2, 1, 1}, {1, 7, 5, 3, 2, 1, 3, 1, 0}, {2, 9, 8, 2, 3, 3, 4, 0, 0},
    {3, 4, 4, 4, 4, 4, 4, 2, 2}, {1, 5, 5, 5, 5, 1, 1, 2, 2}, {1, 2, 2, 2, 2, 2, 2, 1, 1}};

class LibraryPool2d : public LibraryTest<float> {
 protected:
  /// Few different values, so that windows hold ties.
  static OddMatrix<float> image(std::int64_t rows, std::int64_t samples, const Layout& layout, std::uint64_t stream) {
    OddMatrix<float> x(rows, samples, layout.stride, layout.shift, stream);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t s = 0; s < samples; ++s)
        if ((r + s) % 3 != 0) x.set(r, s, std::round(x.view()(r, s) * 2) / 2);
    return x;
  }
  /// check(geometry, layout, input rows, output rows, samples)
  template <class Check>
  static void for_each(const Check& check) {
    for (const Pool2dGeometry& g : kGeometries)
      for (const std::int64_t samples : kAwkwardSamples)
        for (const Layout& layout : layouts(samples)) {
          SCOPED_TRACE(::testing::Message()
                       << "geometry " << &g - kGeometries << " samples " << samples << " stride " << layout.stride);
          check(g, layout, g.channels * g.in_height * g.in_width, g.channels * g.out_height() * g.out_width(), samples);
        }
  }
  KernelContext context_;
};

TEST_F(LibraryPool2d, Max) {
  for_each([&](const Pool2dGeometry& g, const Layout& l, std::int64_t in, std::int64_t out, std::int64_t samples) {
    auto x = image(in, samples, l, 1);
    OddMatrix<float> dy(out, samples, l.stride, l.shift, 2);
    const auto run = [&](const KernelTable<float>& kernels, bool gradient) {
      OddMatrix<float> y(out, samples, l.stride, l.shift), dx(in, samples, l.stride, l.shift);
      kernels.max_pool2d_forward({.geometry = g, .x = x.view(), .y = y.view()}, context_);
      kernels.max_pool2d_backward({.geometry = g, .x = x.view(), .y = y.view(), .dy = dy.view(), .dx = dx.view()},
                                  context_);
      EXPECT_TRUE(y.outside_untouched() && dx.outside_untouched());
      return gradient ? dx.elements() : y.elements();
    };
    EXPECT_EQ(run(table, false), run(naive, false));
    // A gradient is a sum over the windows that chose its place: at most all that cover it.
    const std::int64_t windows =
        (g.window_h + g.stride_h - 1) / g.stride_h * ((g.window_w + g.stride_w - 1) / g.stride_w);
    const auto large_dy = magnitudes(dy.view());
    TestMatrix<double> same_x(in, samples), y(out, samples), size(in, samples);
    for (std::int64_t r = 0; r < in; ++r)
      for (std::int64_t s = 0; s < samples; ++s) same_x(r, s) = x.view()(r, s);
    const KernelTable<double> exact = make_naive_table<double>();
    exact.max_pool2d_forward({.geometry = g, .x = same_x.view(), .y = y.view()}, context_);
    exact.max_pool2d_backward(
        {.geometry = g, .x = same_x.view(), .y = y.view(), .dy = large_dy.view(), .dx = size.view()}, context_);
    EXPECT_TRUE(within(run(table, true), run(naive, true), sum_bounds<float>(elements(size), windows)));
  });
}

TEST_F(LibraryPool2d, Average) {
  for_each([&](const Pool2dGeometry& g, const Layout& l, std::int64_t in, std::int64_t out, std::int64_t samples) {
    OddMatrix<float> x(in, samples, l.stride, l.shift, 1), dy(out, samples, l.stride, l.shift, 2);
    const auto run = [&](const auto& kernels, const auto& from, const auto& gradient, auto& y, auto& dx) {
      kernels.avg_pool2d_forward({.geometry = g, .x = from, .y = y}, context_);
      kernels.avg_pool2d_backward({.geometry = g, .dy = gradient, .dx = dx}, context_);
    };
    const auto outputs = [&](const KernelTable<float>& kernels) {
      OddMatrix<float> y(out, samples, l.stride, l.shift), dx(in, samples, l.stride, l.shift);
      Matrix<float> y_view = y.view(), dx_view = dx.view();
      run(kernels, x.view(), dy.view(), y_view, dx_view);
      std::vector<float> all;
      collect(all, y);
      collect(all, dx);
      return all;
    };
    const auto large_x = magnitudes(x.view()), large_dy = magnitudes(dy.view());
    TestMatrix<double> y_size(out, samples), dx_size(in, samples);
    Matrix<double> y_view = y_size.view(), dx_view = dx_size.view();
    run(make_naive_table<double>(), large_x.view(), large_dy.view(), y_view, dx_view);
    auto size = elements(y_size);
    collect(size, elements(dx_size));
    // One more rounding for the reciprocal of the area, one for the product with it.
    EXPECT_TRUE(within(outputs(table), outputs(naive), sum_bounds<float>(size, g.window_h * g.window_w + 2)));
  });
}

}  // namespace
}  // namespace lockstep::test
