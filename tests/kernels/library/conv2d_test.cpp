// oneDNN's convolution against naive: strides, paddings, dilations, groups, odd places in memory. All shapes share one
// context, as the layers of a network do.
#include "lockstep/kernels/conv2d.hpp"

#include "tests/kernels/conv2d_problem.hpp"
#include "tests/kernels/library/bounds.hpp"

namespace lockstep::test {
namespace {

class LibraryConv2d : public LibraryTest<float> {
 protected:
  /// The awkward geometries, and layers of LeNet-5 and of the batch-normalised CNN.
  static std::vector<Conv2dGeometry> geometries() {
    std::vector<Conv2dGeometry> all;
    for (const NamedGeometry& named : kGeometries) all.push_back(named.g);
    all.push_back(
        {.in_height = 28, .in_width = 28, .out_channels = 6, .kernel_h = 5, .kernel_w = 5, .pad_h = 2, .pad_w = 2});
    all.push_back(
        {.in_channels = 6, .in_height = 14, .in_width = 14, .out_channels = 16, .kernel_h = 5, .kernel_w = 5});
    all.push_back({.in_channels = 32,
                   .in_height = 7,
                   .in_width = 7,
                   .out_channels = 64,
                   .kernel_h = 3,
                   .kernel_w = 3,
                   .pad_h = 1,
                   .pad_w = 1});
    return all;
  }
  template <class Check>
  static void for_each(const Check& check) {
    for (const Conv2dGeometry& g : geometries())
      for (const std::int64_t samples : {0, 1, 3, 16, 17})
        for (const Layout& layout : layouts(samples)) {
          SCOPED_TRACE(::testing::Message() << "[" << g.in_channels << "," << g.in_height << "," << g.in_width
                                            << "] -> " << g.out_channels << ", " << g.kernel_h << "x" << g.kernel_w
                                            << ", samples " << samples << " stride " << layout.stride);
          check(g, samples, layout);
        }
  }
  KernelContext context_;
  KernelTable<double> exact_ = make_naive_table<double>();
};

TEST_F(LibraryConv2d, Forward) {
  for (const bool with_bias : {false, true})
    for_each([&](const Conv2dGeometry& g, std::int64_t samples, const Layout& l) {
      OddMatrix<float> x(in_rows(g), samples, l.stride, l.shift, 1);
      const auto w = random_vector<float>(weight_count(g), 2), b = random_vector<float>(g.out_channels, 3);
      const auto run = [&](const KernelTable<float>& kernels) {
        OddMatrix<float> y(out_rows(g), samples, l.stride, l.shift);
        kernels.conv2d_forward(
            {.geometry = g, .x = x.view(), .w = w.data(), .b = with_bias ? b.data() : nullptr, .y = y.view()},
            context_);
        EXPECT_TRUE(y.outside_untouched());
        return y.elements();
      };
      const auto large_x = magnitudes(x.view());
      const auto large_w = magnitudes(w), large_b = magnitudes(b);
      TestMatrix<double> size(out_rows(g), samples);
      exact_.conv2d_forward({.geometry = g,
                             .x = large_x.view(),
                             .w = large_w.data(),
                             .b = with_bias ? large_b.data() : nullptr,
                             .y = size.view()},
                            context_);
      const std::int64_t terms = g.in_per_group() * g.kernel_h * g.kernel_w;
      EXPECT_TRUE(within(run(table), run(naive), sum_bounds<float>(elements(size), terms)));
    });
}

TEST_F(LibraryConv2d, BackwardData) {
  for_each([&](const Conv2dGeometry& g, std::int64_t samples, const Layout& l) {
    OddMatrix<float> dy(out_rows(g), samples, l.stride, l.shift, 1);
    const auto w = random_vector<float>(weight_count(g), 2);
    const auto run = [&](const KernelTable<float>& kernels) {
      OddMatrix<float> dx(in_rows(g), samples, l.stride, l.shift);
      kernels.conv2d_backward_data({.geometry = g, .w = w.data(), .dy = dy.view(), .dx = dx.view()}, context_);
      EXPECT_TRUE(dx.outside_untouched());
      return dx.elements();
    };
    const auto large_dy = magnitudes(dy.view());
    const auto large_w = magnitudes(w);
    TestMatrix<double> size(in_rows(g), samples);
    exact_.conv2d_backward_data({.geometry = g, .w = large_w.data(), .dy = large_dy.view(), .dx = size.view()},
                                context_);
    const std::int64_t terms = g.out_per_group() * g.kernel_h * g.kernel_w;
    EXPECT_TRUE(within(run(table), run(naive), sum_bounds<float>(elements(size), terms)));
  });
}

TEST_F(LibraryConv2d, BackwardWeights) {
  for (const bool with_bias : {false, true})
    for (const Conv2dGeometry& g : geometries())
      for (const auto& sizes : kCuts) {
        const Cut cut(sizes);
        const std::int64_t samples = cut.samples();
        SCOPED_TRACE(::testing::Message()
                     << "[" << g.in_channels << "," << g.in_height << "," << g.in_width << "] -> " << g.out_channels
                     << ", " << g.kernel_h << "x" << g.kernel_w << ", samples " << samples);
        OddMatrix<float> x(in_rows(g), samples, samples + 1, 1, 1), dy(out_rows(g), samples, samples + 3, 0, 2);
        const auto run = [&](const KernelTable<float>& kernels) {
          auto dw = nan_vector<float>(weight_count(g)), db = nan_vector<float>(with_bias ? g.out_channels : 0);
          kernels.conv2d_backward_weights({.geometry = g,
                                           .x = x.view(),
                                           .dy = dy.view(),
                                           .slots = cut.slots(),
                                           .dw = dw.data(),
                                           .db = with_bias ? db.data() : nullptr},
                                          context_);
          collect(dw, db);
          return dw;
        };
        const auto large_x = magnitudes(x.view()), large_dy = magnitudes(dy.view());
        auto size = nan_vector<double>(weight_count(g)), bias_size = nan_vector<double>(with_bias ? g.out_channels : 0);
        exact_.conv2d_backward_weights({.geometry = g,
                                        .x = large_x.view(),
                                        .dy = large_dy.view(),
                                        .slots = cut.slots(),
                                        .dw = size.data(),
                                        .db = with_bias ? bias_size.data() : nullptr},
                                       context_);
        collect(size, bias_size);
        const std::int64_t terms = samples * g.out_height() * g.out_width();
        EXPECT_TRUE(within(run(table), run(naive), sum_bounds<float>(size, terms)));
      }
}

}  // namespace
}  // namespace lockstep::test
