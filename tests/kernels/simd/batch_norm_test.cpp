// Batch normalisation against naive, bit by bit: uneven and empty slots, channels around those that go side by side.
#include "lockstep/kernels/batch_norm.hpp"

#include "tests/kernels/simd/tables.hpp"

namespace lockstep::test {
namespace {

struct Dims {
  std::int64_t channels, pixels;
};
constexpr Dims kDims[] = {{1, 1}, {2, 1}, {3, 5}, {4, 3}, {7, 2}, {9, 1}};

template <class T>
class SimdBatchNorm : public ::testing::Test {
 protected:
  template <class Run>
  void compare(const Run& run) {
    for (const Dims& d : kDims)
      for (const auto& sizes : kCuts) {
        const Cut cut(sizes);
        for (const Layout& layout : layouts(cut.samples())) {
          SCOPED_TRACE(::testing::Message() << d.channels << " channels of " << d.pixels << ", " << cut.samples()
                                            << " samples in " << sizes.size() << " slots, stride " << layout.stride);
          expect_like_naive<T>([&](const KernelTable<T>& table) { return run(table, d, cut, layout); });
        }
      }
  }
};
TYPED_TEST_SUITE(SimdBatchNorm, Scalars);

TYPED_TEST(SimdBatchNorm, Forward) {
  using T = TypeParam;
  this->compare([](const KernelTable<T>& table, const Dims& d, const Cut& cut, const Layout& l) {
    KernelContext context;
    const std::int64_t rows = d.channels * d.pixels, samples = cut.samples(),
                       numbers = d.channels * cut.slots().count();
    OddMatrix<T> x(rows, samples, l.stride, l.shift, 1), y(rows, samples, l.stride, l.shift);
    const auto gamma = random_vector<T>(d.channels, 2), beta = random_vector<T>(d.channels, 3);
    auto mean = nan_vector<T>(numbers + 1), inv_std = mean, sum_mean = nan_vector<T>(d.channels + 1),
         sum_var = sum_mean;
    BatchNormForward<T> args = {.channels = d.channels,
                                .pixels = d.pixels,
                                .eps = T(1e-5),
                                .x = x.view(),
                                .gamma = gamma.data(),
                                .beta = beta.data(),
                                .slots = cut.slots(),
                                .y = y.view(),
                                .mean = mean.data(),
                                .inv_std = inv_std.data(),
                                .sum_mean = sum_mean.data(),
                                .sum_var = sum_var.data()};
    table.batch_norm_forward(args, context);
    args.y = x.view();
    table.batch_norm_forward(args, context);
    std::vector<T> all;
    collect(all, x);
    collect(all, y);
    for (const auto* values : {&mean, &inv_std, &sum_mean, &sum_var}) collect(all, *values);
    return all;
  });
}

TYPED_TEST(SimdBatchNorm, Backward) {
  using T = TypeParam;
  for (const bool data : {false, true})
    this->compare([&](const KernelTable<T>& table, const Dims& d, const Cut& cut, const Layout& l) {
      KernelContext context;
      const std::int64_t rows = d.channels * d.pixels, samples = cut.samples();
      const std::int64_t numbers = d.channels * cut.slots().count();
      OddMatrix<T> x(rows, samples, l.stride, l.shift, 1), dy(rows, samples, l.stride, l.shift, 2),
          dx(rows, samples, samples + 1, 2);
      const auto gamma = random_vector<T>(d.channels, 3), mean = random_vector<T>(numbers, 4),
                 inv_std = random_vector<T>(numbers, 5, 0.5, 2);
      auto dgamma = nan_vector<T>(d.channels + 1), dbeta = dgamma;
      BatchNormBackward<T> args = {.channels = d.channels,
                                   .pixels = d.pixels,
                                   .x = x.view(),
                                   .dy = dy.view(),
                                   .gamma = gamma.data(),
                                   .mean = mean.data(),
                                   .inv_std = inv_std.data(),
                                   .slots = cut.slots(),
                                   .dgamma = dgamma.data(),
                                   .dbeta = dbeta.data()};
      if (data) args.dx = dx.view();
      table.batch_norm_backward(args, context);
      std::vector<T> all = dgamma;
      collect(all, dbeta);
      collect(all, dx);
      if (data) args.dx = dy.view();
      table.batch_norm_backward(args, context);
      collect(all, dy);
      return all;
    });
}

TYPED_TEST(SimdBatchNorm, Inference) {
  using T = TypeParam;
  this->compare([](const KernelTable<T>& table, const Dims& d, const Cut& cut, const Layout& l) {
    KernelContext context;
    const std::int64_t rows = d.channels * d.pixels, samples = cut.samples();
    OddMatrix<T> x(rows, samples, l.stride, l.shift, 1), y(rows, samples, l.stride, l.shift);
    const auto gamma = random_vector<T>(d.channels, 2), beta = random_vector<T>(d.channels, 3),
               mean = random_vector<T>(d.channels, 4), var = random_vector<T>(d.channels, 5, 0, 2);
    table.batch_norm_inference({.channels = d.channels,
                                .pixels = d.pixels,
                                .eps = T(1e-3),
                                .x = x.view(),
                                .gamma = gamma.data(),
                                .beta = beta.data(),
                                .running_mean = mean.data(),
                                .running_var = var.data(),
                                .y = y.view()},
                               context);
    std::vector<T> all;
    collect(all, y);
    return all;
  });
}

// The parts that statistics of a batch take.
TYPED_TEST(SimdBatchNorm, InParts) {
  using T = TypeParam;
  this->compare([](const KernelTable<T>& table, const Dims& d, const Cut& cut, const Layout& l) {
    KernelContext context;
    const std::int64_t rows = d.channels * d.pixels, samples = cut.samples();
    OddMatrix<T> x(rows, samples, l.stride, l.shift, 1), dy(rows, samples, l.stride, l.shift, 2),
        y(rows, samples, l.stride, l.shift), dx(rows, samples, samples + 1, 2);
    const auto gamma = random_vector<T>(d.channels, 2), beta = random_vector<T>(d.channels, 3),
               mean = random_vector<T>(d.channels, 4), inv_std = random_vector<T>(d.channels, 5, 0.5, 2),
               p = random_vector<T>(d.channels, 6), q = random_vector<T>(d.channels, 7);
    std::vector<T> all;
    for (const T* centre : {static_cast<const T*>(nullptr), mean.data()}) {
      auto sum = nan_vector<T>(d.channels + 1);
      table.batch_norm_sums({.channels = d.channels,
                             .pixels = d.pixels,
                             .x = x.view(),
                             .centre = centre,
                             .slots = cut.slots(),
                             .sum = sum.data()},
                            context);
      collect(all, sum);
    }
    BatchNormNormalise<T> forward = {.channels = d.channels,
                                     .pixels = d.pixels,
                                     .x = x.view(),
                                     .gamma = gamma.data(),
                                     .beta = beta.data(),
                                     .mean = mean.data(),
                                     .inv_std = inv_std.data(),
                                     .y = y.view()};
    table.batch_norm_normalise(forward, context);
    BatchNormBackwardData<T> backward = {.channels = d.channels,
                                         .pixels = d.pixels,
                                         .x = x.view(),
                                         .dy = dy.view(),
                                         .gamma = gamma.data(),
                                         .mean = mean.data(),
                                         .inv_std = inv_std.data(),
                                         .p = p.data(),
                                         .q = q.data(),
                                         .share = T(1) / T(samples + 1),
                                         .dx = dx.view()};
    table.batch_norm_backward_data(backward, context);
    backward.dx = dy.view();
    table.batch_norm_backward_data(backward, context);
    forward.y = x.view();
    table.batch_norm_normalise(forward, context);
    for (OddMatrix<T>* each : {&y, &dx, &dy, &x}) collect(all, *each);
    return all;
  });
}

TYPED_TEST(SimdBatchNorm, DivergedStaysSo) {
  using T = TypeParam;
  const T infinity = std::numeric_limits<T>::infinity(), large = std::numeric_limits<T>::max();
  for (const T bad : {kNan<T>, infinity, large})
    for (const auto& sizes : kCuts) {
      const Cut cut(sizes);
      expect_like_naive<T>([&](const KernelTable<T>& table) {
        KernelContext context;
        OddMatrix<T> x(2, cut.samples(), cut.samples() + 2, 1, 1), y(2, cut.samples(), cut.samples(), 0);
        x.set(0, 0, bad);
        x.set(0, 1, bad);
        const std::vector<T> gamma = {T(1), T(2)}, beta = {T(0), T(0.5)};
        auto mean = nan_vector<T>(2 * cut.slots().count()), inv_std = mean, sums = nan_vector<T>(4);
        table.batch_norm_forward({.channels = 2,
                                  .pixels = 1,
                                  .eps = T(1e-5),
                                  .x = x.view(),
                                  .gamma = gamma.data(),
                                  .beta = beta.data(),
                                  .slots = cut.slots(),
                                  .y = y.view(),
                                  .mean = mean.data(),
                                  .inv_std = inv_std.data(),
                                  .sum_mean = sums.data(),
                                  .sum_var = sums.data() + 2},
                                 context);
        std::vector<T> all = sums;
        collect(all, y);
        return all;
      });
    }
}

}  // namespace
}  // namespace lockstep::test
