// Layer normalisation against naive, bit by bit: features around those that go side by side, uneven and empty slots.
#include "lockstep/kernels/layer_norm.hpp"

#include "tests/kernels/simd/tables.hpp"

namespace lockstep::test {
namespace {

template <class T>
class SimdLayerNorm : public ::testing::Test {
 protected:
  template <class Run>
  void compare(const Run& run) {
    for (const std::int64_t features : {1, 3, 8, 17, 33})
      for (const auto& sizes : kCuts) {
        const Cut cut(sizes);
        for (const Layout& layout : layouts(cut.samples())) {
          SCOPED_TRACE(::testing::Message() << features << " features, " << cut.samples() << " samples in "
                                            << sizes.size() << " slots, stride " << layout.stride);
          expect_like_naive<T>([&](const KernelTable<T>& table) { return run(table, features, cut, layout); });
        }
      }
  }
};
TYPED_TEST_SUITE(SimdLayerNorm, Scalars);

TYPED_TEST(SimdLayerNorm, Forward) {
  using T = TypeParam;
  for (const bool statistics : {false, true})
    this->compare([&](const KernelTable<T>& table, std::int64_t features, const Cut& cut, const Layout& l) {
      KernelContext context;
      OddMatrix<T> x(features, cut.samples(), l.stride, l.shift, 1), y(features, cut.samples(), l.stride, l.shift);
      const auto gamma = random_vector<T>(features, 2), beta = random_vector<T>(features, 3);
      auto mean = nan_vector<T>(cut.samples() + 1), inv_std = mean;
      LayerNormForward<T> args = {.eps = T(1e-5),
                                  .x = x.view(),
                                  .gamma = gamma.data(),
                                  .beta = beta.data(),
                                  .y = y.view(),
                                  .mean = statistics ? mean.data() : nullptr,
                                  .inv_std = statistics ? inv_std.data() : nullptr};
      table.layer_norm_forward(args, context);
      args.y = x.view();
      table.layer_norm_forward(args, context);
      std::vector<T> all;
      collect(all, x);
      collect(all, y);
      collect(all, mean);
      collect(all, inv_std);
      return all;
    });
}

TYPED_TEST(SimdLayerNorm, Backward) {
  using T = TypeParam;
  for (const bool data : {false, true})
    this->compare([&](const KernelTable<T>& table, std::int64_t features, const Cut& cut, const Layout& l) {
      KernelContext context;
      const std::int64_t samples = cut.samples();
      OddMatrix<T> x(features, samples, l.stride, l.shift, 1), dy(features, samples, l.stride, l.shift, 2),
          dx(features, samples, samples + 1, 2);
      const auto gamma = random_vector<T>(features, 3), mean = random_vector<T>(samples, 4),
                 inv_std = random_vector<T>(samples, 5, 0.5, 2);
      auto dgamma = nan_vector<T>(features + 1), dbeta = dgamma;
      LayerNormBackward<T> args = {.x = x.view(),
                                   .dy = dy.view(),
                                   .gamma = gamma.data(),
                                   .mean = mean.data(),
                                   .inv_std = inv_std.data(),
                                   .slots = cut.slots(),
                                   .dgamma = dgamma.data(),
                                   .dbeta = dbeta.data()};
      if (data) args.dx = dx.view();
      table.layer_norm_backward(args, context);
      std::vector<T> all = dgamma;
      collect(all, dbeta);
      collect(all, dx);
      if (data) args.dx = dy.view();
      table.layer_norm_backward(args, context);
      collect(all, dy);
      return all;
    });
}

}  // namespace
}  // namespace lockstep::test
