// Pooling against naive, bit by bit: windows that tile, overlap, leave gaps or reach into the padding, with ties.
#include "lockstep/kernels/pool2d.hpp"

#include "tests/kernels/simd/tables.hpp"

namespace lockstep::test {
namespace {

// channels, height, width, window, stride, pad
const Pool2dGeometry kGeometries[] = {{1, 1, 1, 1, 1, 1, 1, 0, 0},  {3, 4, 6, 2, 2, 2, 2, 0, 0},
                                      {2, 5, 7, 2, 2, 2, 2, 0, 0},  // the usual, and with a rest
                                      {2, 6, 6, 3, 3, 2, 2, 1, 1},  {1, 7, 5, 3, 2, 1, 3, 1, 0},
                                      {2, 9, 8, 2, 3, 3, 4, 0, 0},  // overlaps, gaps
                                      {2, 6, 9, 3, 3, 3, 3, 0, 0},  {3, 4, 4, 4, 4, 4, 4, 2, 2},
                                      {1, 5, 5, 5, 5, 1, 1, 2, 2},  // tiles, half in the padding
                                      {1, 2, 2, 2, 2, 2, 2, 1, 1},  {2, 3, 8, 1, 2, 1, 2, 0, 0},
                                      {2, 6, 36, 2, 2, 2, 2, 0, 0}, {2, 4, 39, 2, 2, 2, 2, 0, 0},
                                      {1, 5, 37, 3, 3, 2, 2, 1, 1}, {1, 4, 35, 3, 3, 1, 1, 1, 1},
                                      {2, 3, 34, 2, 5, 1, 2, 1, 2}};  // rows of several vectors

template <class T>
class SimdPool2d : public ::testing::Test {
 protected:
  /// Few different values, so that windows hold ties; with zeros of both signs, NaN and infinity.
  static OddMatrix<T> image(std::int64_t rows, std::int64_t samples, const Layout& layout, std::uint64_t stream) {
    OddMatrix<T> x(rows, samples, layout.stride, layout.shift, stream);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t s = 0; s < samples; ++s)
        if ((r + s) % 3 != 0) x.set(r, s, std::round(x.view()(r, s) * 2) / 2);
    x.set(0, 0, kNan<T>);
    x.set(rows / 2, samples / 2, kNan<T>);
    x.set(rows - 1, samples - 1, -std::numeric_limits<T>::infinity());
    return x;
  }

  /// run(table, geometry, layout, input rows, output rows, samples) for all of them.
  template <class Run>
  void compare(const Run& run) {
    for (const Pool2dGeometry& g : kGeometries)
      for (const std::int64_t samples : kAwkwardSamples)
        for (const Layout& layout : layouts(samples)) {
          const std::int64_t in = g.channels * g.in_height * g.in_width;
          const std::int64_t out = g.channels * g.out_height() * g.out_width();
          SCOPED_TRACE(::testing::Message()
                       << "geometry " << &g - kGeometries << " samples " << samples << " stride " << layout.stride);
          expect_like_naive<T>([&](const KernelTable<T>& table) { return run(table, g, layout, in, out, samples); });
        }
  }
};
TYPED_TEST_SUITE(SimdPool2d, Scalars);

TYPED_TEST(SimdPool2d, Max) {
  using T = TypeParam;
  this->compare([&](const KernelTable<T>& table, const Pool2dGeometry& g, const Layout& l, std::int64_t in,
                    std::int64_t out, std::int64_t samples) {
    KernelContext context;
    auto x = this->image(in, samples, l, 1), dy = this->image(out, samples, l, 2);
    OddMatrix<T> y(out, samples, l.stride, l.shift), dx(in, samples, l.stride, l.shift);
    table.max_pool2d_forward({.geometry = g, .x = x.view(), .y = y.view()}, context);
    table.max_pool2d_backward({.geometry = g, .x = x.view(), .y = y.view(), .dy = dy.view(), .dx = dx.view()}, context);
    std::vector<T> all;
    collect(all, y);
    collect(all, dx);
    return all;
  });
}

TYPED_TEST(SimdPool2d, Average) {
  using T = TypeParam;
  this->compare([&](const KernelTable<T>& table, const Pool2dGeometry& g, const Layout& l, std::int64_t in,
                    std::int64_t out, std::int64_t samples) {
    KernelContext context;
    auto x = this->image(in, samples, l, 1), dy = this->image(out, samples, l, 2);
    OddMatrix<T> y(out, samples, l.stride, l.shift), dx(in, samples, l.stride, l.shift);
    table.avg_pool2d_forward({.geometry = g, .x = x.view(), .y = y.view()}, context);
    table.avg_pool2d_backward({.geometry = g, .dy = dy.view(), .dx = dx.view()}, context);
    std::vector<T> all;
    collect(all, y);
    collect(all, dx);
    return all;
  });
}

}  // namespace
}  // namespace lockstep::test
