// Convolution against naive, bit by bit: every table, awkward geometries, odd places in memory, uneven and empty slots.
#include "tests/kernels/simd/tables.hpp"

namespace lockstep::test {
namespace {

// in_channels, in_height, in_width, out_channels, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h,
// dilation_w, groups
const Conv2dGeometry kGeometries[] = {
    {1, 1, 1, 1, 1, 1},
    {1, 5, 6, 6, 5, 5, 1, 1, 2, 2},           // LeNet-5, first
    {3, 6, 7, 16, 5, 5},                      // LeNet-5, second
    {5, 6, 5, 13, 3, 3, 1, 1, 1, 1},          // the usual one, odd channels
    {4, 7, 9, 7, 3, 3, 2, 2, 1, 1},           // stride 2
    {6, 5, 4, 9, 1, 1},                       // 1x1
    {9, 5, 4, 3, 1, 1, 2, 2, 1, 1},           // 1x1 with stride and padding: windows in the padding alone
    {2, 12, 13, 4, 11, 11, 1, 1, 3, 4},       // 11x11
    {1, 13, 14, 2, 11, 11, 2, 3, 5, 0},       //
    {4, 6, 7, 6, 2, 4, 1, 3, 1, 2, 2, 1, 2},  // groups, dilation, uneven steps
    {3, 8, 7, 3, 3, 2, 2, 2, 2, 1, 2, 3, 3},  // depthwise; stride and dilation with a common divisor
    {2, 9, 9, 5, 3, 3, 4, 4, 0, 0, 2, 2},     // stride 4, dilation 2; some inputs under no window
    {2, 3, 2, 3, 5, 7, 1, 1, 3, 4},           // the image is narrower than the kernel
    {8, 4, 3, 1, 3, 1, 1, 1, 1, 0},           // one output channel, kernel 1 wide
    {1, 4, 11, 30, 2, 6, 1, 1, 0, 3},         // two groups of taps
    {1, 2, 113, 9, 1, 3, 1, 1, 0, 1},         // wide: more pixels of a row than a few samples take at one time
    {2, 31, 3, 18, 3, 3, 1, 1, 2, 1},         // tall and narrow
    {3, 3, 9, 41, 3, 3, 1, 1, 1, 1},          // more channels and taps than a work-group of a device takes
    {2, 2, 230, 3, 1, 3, 1, 1, 0, 2, 1, 99},  // windows wider than the tiles of a device
    {13, 2, 2, 19, 3, 3, 1, 1, 1, 1},  // many channels and few pixels: several blocks of weights, the last smaller
    {78, 3, 2, 22, 1, 1, 1, 1, 0, 0, 1, 1, 2},   // 1x1, more input channels than a block of weights has
    {3, 2, 7, 11, 2, 9, 1, 1, 1, 4},             // two groups of taps, whose tiles have not the same channels
    {42, 2, 3, 42, 3, 3, 1, 1, 1, 1, 1, 1, 42},  // depthwise, more groups than a block of weights has
};
const std::int64_t kSampleCounts[] = {1, 2, 3, 5, 8, 15, 16, 17, 31, 37};

template <class T>
class SimdConv2d : public ::testing::Test {};
TYPED_TEST_SUITE(SimdConv2d, Scalars);

std::int64_t in_size(const Conv2dGeometry& g) { return g.in_channels * g.in_height * g.in_width; }
std::int64_t out_size(const Conv2dGeometry& g) { return g.out_channels * g.out_height() * g.out_width(); }
std::int64_t weight_count(const Conv2dGeometry& g) {
  return g.out_channels * g.in_per_group() * g.kernel_h * g.kernel_w;
}

/// run(table, geometry, samples, layout) for every geometry, number of samples and place in memory.
template <class T, class Run>
void expect_like_naive_everywhere(const Run& run) {
  for (std::size_t i = 0; i < std::size(kGeometries); ++i)
    for (const std::int64_t samples : kSampleCounts)
      for (const Layout& layout : layouts(samples)) {
        SCOPED_TRACE(::testing::Message() << "geometry " << i << " samples " << samples << " stride " << layout.stride);
        expect_like_naive<T>([&](const KernelTable<T>& table) { return run(table, kGeometries[i], samples, layout); });
      }
}

TYPED_TEST(SimdConv2d, Forward) {
  using T = TypeParam;
  for (const bool with_bias : {false, true})
    expect_like_naive_everywhere<T>([&](const KernelTable<T>& table, const Conv2dGeometry& g, std::int64_t samples,
                                        const Layout& l) {
      KernelContext context;
      OddMatrix<T> x(in_size(g), samples, l.stride, l.shift, 1), y(out_size(g), samples, l.stride, l.shift);
      const auto w = random_vector<T>(weight_count(g), 2), b = random_vector<T>(g.out_channels, 3);
      table.conv2d_forward(
          {.geometry = g, .x = x.view(), .w = w.data(), .b = with_bias ? b.data() : nullptr, .y = y.view()}, context);
      EXPECT_TRUE(y.outside_untouched());
      return y.elements();
    });
}

/// Weights that come in both orders. Columns beyond the channels may hold anything; where there are few of them a
/// kernel may not load whole vectors.
TYPED_TEST(SimdConv2d, TransposedWeights) {
  using T = TypeParam;
  for (const Conv2dGeometry& g : kGeometries)
    for (const auto& counts : {std::pair{1, 0}, {1, 64}, {3, 3}}) {
      const std::int64_t samples = counts.first, more = counts.second;
      SCOPED_TRACE(::testing::Message() << g.out_channels << " channels, samples " << samples << " more " << more);
      const std::int64_t taps = weight_count(g) / g.out_channels, columns = g.out_channels + more;
      const auto w = random_vector<T>(weight_count(g), 2), b = random_vector<T>(g.out_channels, 3);
      auto transposed = nan_vector<T>(taps * columns);
      for (std::int64_t i = 0; i < weight_count(g); ++i)
        transposed[std::size_t(i % taps * columns + i / taps)] = w[std::size_t(i)];
      expect_like_naive<T>([&](const KernelTable<T>& table) {
        KernelContext context;
        OddMatrix<T> x(in_size(g), samples, samples, 0, 1), y(out_size(g), samples, samples, 0);
        table.conv2d_forward({.geometry = g,
                              .x = x.view(),
                              .w = w.data(),
                              .b = b.data(),
                              .y = y.view(),
                              .w_transposed = {transposed.data(), taps, columns, columns}},
                             context);
        EXPECT_TRUE(y.outside_untouched());
        return y.elements();
      });
    }
}

TYPED_TEST(SimdConv2d, BackwardData) {
  using T = TypeParam;
  expect_like_naive_everywhere<T>(
      [&](const KernelTable<T>& table, const Conv2dGeometry& g, std::int64_t samples, const Layout& l) {
        KernelContext context;
        OddMatrix<T> dy(out_size(g), samples, l.stride, l.shift, 1), dx(in_size(g), samples, l.stride, l.shift);
        const auto w = random_vector<T>(weight_count(g), 2);
        table.conv2d_backward_data({.geometry = g, .w = w.data(), .dy = dy.view(), .dx = dx.view()}, context);
        EXPECT_TRUE(dx.outside_untouched());
        return dx.elements();
      });
}

/// Activations larger than half a level-2 cache are walked in another order, row of pixels by row of pixels.
TYPED_TEST(SimdConv2d, LargeActivations) {
  using T = TypeParam;
  const Conv2dGeometry g{11, 31, 29, 13, 3, 3, 1, 1, 1, 1};
  const std::int64_t samples = 16;
  ASSERT_GT(in_size(g) * samples * static_cast<std::int64_t>(sizeof(float)), 512 * 1024);
  const auto w = random_vector<T>(weight_count(g), 2);
  expect_like_naive<T>([&](const KernelTable<T>& table) {
    KernelContext context;
    OddMatrix<T> x(in_size(g), samples, samples, 0, 1), y(out_size(g), samples, samples, 0);
    table.conv2d_forward({.geometry = g, .x = x.view(), .w = w.data(), .y = y.view()}, context);
    return y.elements();
  });
  expect_like_naive<T>([&](const KernelTable<T>& table) {
    KernelContext context;
    OddMatrix<T> dy(out_size(g), samples, samples, 0, 1), dx(in_size(g), samples, samples, 0);
    table.conv2d_backward_data({.geometry = g, .w = w.data(), .dy = dy.view(), .dx = dx.view()}, context);
    return dx.elements();
  });
}

TYPED_TEST(SimdConv2d, BackwardWeights) {
  using T = TypeParam;
  const auto naive = make_naive_table<T>();
  for (std::size_t i = 0; i < std::size(kGeometries); ++i)
    for (const auto& sizes : kCuts) {
      const Conv2dGeometry& g = kGeometries[i];
      const Cut cut(sizes);
      const auto run = [&](const KernelTable<T>& table, const Layout& l, bool with_bias) {
        KernelContext context;
        OddMatrix<T> x(in_size(g), cut.samples(), l.stride, l.shift, 1), dy(out_size(g), cut.samples(), l.stride, 0, 2);
        auto dw = nan_vector<T>(weight_count(g)), db = nan_vector<T>(g.out_channels);
        table.conv2d_backward_weights({.geometry = g,
                                       .x = x.view(),
                                       .dy = dy.view(),
                                       .slots = cut.slots(),
                                       .dw = dw.data(),
                                       .db = with_bias ? db.data() : nullptr},
                                      context);
        if (with_bias) dw.insert(dw.end(), db.begin(), db.end());
        return dw;
      };
      for (const auto& table : simd_tables<T>())
        for (const Layout& layout : layouts(cut.samples()))
          EXPECT_TRUE(identical(run(table, layout, layout.shift == 0), run(naive, layout, layout.shift == 0)))
              << table.backend << " geometry " << i << " slots " << sizes.size() << " stride " << layout.stride;
    }
}

/// Lanes without a sample and taps in the padding contribute nothing, not even the sign of a zero or a NaN.
TYPED_TEST(SimdConv2d, SkippedTapsLeaveNoMark) {
  using T = TypeParam;
  const Conv2dGeometry g{2, 3, 4, 5, 3, 3, 1, 1, 1, 1};
  const Cut cut{3, 0};
  OddMatrix<T> x(in_size(g), 3, 16, 0, 1), dy(out_size(g), 3, 16, 0, 2);
  const T tiny = std::numeric_limits<T>::denorm_min(), infinity = std::numeric_limits<T>::infinity();
  for (std::int64_t r = 0; r < in_size(g); ++r) x.view()(r, r % 3) = r % 2 == 0 ? -tiny : T(0);
  for (std::int64_t r = 0; r < out_size(g); ++r) dy.view()(r, 0) = r % 3 == 0 ? infinity : (r % 3 == 1 ? tiny : -T(0));
  const auto run = [&](const KernelTable<T>& table) {
    KernelContext context;
    auto dw = nan_vector<T>(weight_count(g)), db = nan_vector<T>(5);
    table.conv2d_backward_weights(
        {.geometry = g, .x = x.view(), .dy = dy.view(), .slots = cut.slots(), .dw = dw.data(), .db = db.data()},
        context);
    dw.insert(dw.end(), db.begin(), db.end());
    return dw;
  };
  for (const auto& table : simd_tables<T>()) EXPECT_TRUE(identical(run(table), run(make_naive_table<T>())));
}

}  // namespace
}  // namespace lockstep::test
