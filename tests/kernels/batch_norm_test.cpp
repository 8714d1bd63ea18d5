#include "lockstep/kernels/batch_norm.hpp"

#include <array>

#include "tests/kernels/support.hpp"

namespace lockstep::test {
namespace {

template <class T>
struct Forward {
  TestMatrix<T> y;
  std::vector<T> mean, inv_std, sum_mean, sum_var;
};

template <class T>
struct Backward {
  TestMatrix<T> dx;
  std::vector<T> dgamma, dbeta;
};

template <class T>
struct Problem {
  std::int64_t channels, pixels;
  Cut cut;
  TestMatrix<T> x, dy;
  std::vector<T> gamma, beta;
  T eps = T(1e-5);

  Problem(std::int64_t channel_count, std::int64_t pixel_count, const std::vector<std::int64_t>& slot_sizes)
      : channels(channel_count),
        pixels(pixel_count),
        cut(slot_sizes),
        x(channels * pixels, cut.samples(), 1),
        dy(channels * pixels, cut.samples(), 2),
        gamma(random_vector<T>(channels, 3, 0.5, 1.5)),
        beta(random_vector<T>(channels, 4)) {}

  Forward<T> forward() const {
    const std::int64_t slots = cut.slots().count();
    Forward<T> f{TestMatrix<T>(channels * pixels, cut.samples()), nan_vector<T>(slots * channels),
                 nan_vector<T>(slots * channels), nan_vector<T>(channels), nan_vector<T>(channels)};
    KernelContext context;
    make_naive_table<T>().batch_norm_forward({.channels = channels,
                                              .pixels = pixels,
                                              .eps = eps,
                                              .x = x.view(),
                                              .gamma = gamma.data(),
                                              .beta = beta.data(),
                                              .slots = cut.slots(),
                                              .y = f.y.view(),
                                              .mean = f.mean.data(),
                                              .inv_std = f.inv_std.data(),
                                              .sum_mean = f.sum_mean.data(),
                                              .sum_var = f.sum_var.data()},
                                             context);
    return f;
  }

  Backward<T> backward(const Forward<T>& f, bool want_dx = true) const {
    Backward<T> b{TestMatrix<T>(channels * pixels, cut.samples()), nan_vector<T>(channels), nan_vector<T>(channels)};
    KernelContext context;
    make_naive_table<T>().batch_norm_backward({.channels = channels,
                                               .pixels = pixels,
                                               .x = x.view(),
                                               .dy = dy.view(),
                                               .gamma = gamma.data(),
                                               .mean = f.mean.data(),
                                               .inv_std = f.inv_std.data(),
                                               .slots = cut.slots(),
                                               .dx = want_dx ? b.dx.view() : Matrix<T>{},
                                               .dgamma = b.dgamma.data(),
                                               .dbeta = b.dbeta.data()},
                                              context);
    return b;
  }
};

TEST(BatchNorm, GradientsMatchCentralDifferences) {
  for (const auto& sizes : kCuts)
    for (const std::int64_t pixels : {1, 3, 4}) {
      Problem<double> p(2, pixels, sizes);
      const auto b = p.backward(p.forward());
      const auto objective = [&] { return weighted_sum(p.dy, p.forward().y); };
      EXPECT_LT(gradient_error(p.x, b.dx, objective), kGradientTolerance) << pixels << " pixels";
      EXPECT_LT(gradient_error(p.gamma, b.dgamma, objective), kGradientTolerance) << pixels << " pixels";
      EXPECT_LT(gradient_error(p.beta, b.dbeta, objective), kGradientTolerance) << pixels << " pixels";
    }
}

template <class T>
class BatchNormOrder : public ::testing::Test {};
TYPED_TEST_SUITE(BatchNormOrder, Scalars);

/// take(row, sample, sum) over one channel of one slot, in the documented order.
template <class T, class Take>
T slot_sum(const Problem<T>& p, std::int64_t channel, std::int64_t slot, const Take& take) {
  const Slots slots = p.cut.slots();
  std::array<T, 16> lanes{};
  for (std::int64_t lane = 0; lane < 16; ++lane)
    for (std::int64_t j = lane; j < slots.size(slot); j += 16)
      for (std::int64_t pixel = 0; pixel < p.pixels; ++pixel)
        lanes[std::size_t(lane)] = take(channel * p.pixels + pixel, slots.begin(slot) + j, lanes[std::size_t(lane)]);
  for (std::size_t step : {8, 4, 2, 1})
    for (std::size_t l = 0; l < step; ++l) lanes[l] += lanes[l + step];
  return lanes[0];
}

/// One channel of one slot by the formulas of the header.
template <class T>
struct Expected {
  T mean = 0, var = 0, inv_std = 0, n = 0, p = 0, q = 0;
};

template <class T>
Expected<T> expected_slot(const Problem<T>& p, std::int64_t c, std::int64_t slot) {
  Expected<T> e;
  e.n = T(p.pixels * p.cut.slots().size(slot));
  if (e.n == 0) return e;
  const T share = 1 / e.n;
  e.mean = slot_sum(p, c, slot, [&](std::int64_t r, std::int64_t s, T sum) { return sum + p.x(r, s); }) * share;
  e.var = share * slot_sum(p, c, slot, [&](std::int64_t r, std::int64_t s, T sum) {
            return std::fma(p.x(r, s) - e.mean, p.x(r, s) - e.mean, sum);
          });
  e.inv_std = 1 / std::sqrt(e.var + p.eps);
  e.p = slot_sum(p, c, slot, [&](std::int64_t r, std::int64_t s, T sum) { return sum + p.dy(r, s); });
  e.q = e.inv_std * slot_sum(p, c, slot, [&](std::int64_t r, std::int64_t s, T sum) {
          return std::fma(p.dy(r, s), p.x(r, s) - e.mean, sum);
        });
  return e;
}

TYPED_TEST(BatchNormOrder, FollowsTheHeader) {
  using T = TypeParam;
  for (const auto& sizes : kCuts) {
    const Problem<T> p(3, 5, sizes);
    const Slots slots = p.cut.slots();
    const auto f = p.forward();
    const auto b = p.backward(f);
    TestMatrix<T> y(15, p.cut.samples()), dx = y;
    for (std::int64_t c = 0; c < 3; ++c) {
      const auto tree = [&](const auto& leaf) {
        return slot_tree([&](std::int64_t k) { return T(leaf(expected_slot(p, c, k))); }, 0, slots.count());
      };
      EXPECT_EQ(f.sum_mean[std::size_t(c)], tree([](auto e) { return e.n * e.mean; }));
      EXPECT_EQ(f.sum_var[std::size_t(c)],
                tree([](auto e) { return e.n < 2 ? T(0) : e.n * (e.var * (e.n / (e.n - 1))); }));
      EXPECT_EQ(b.dbeta[std::size_t(c)], tree([](auto e) { return e.p; }));
      EXPECT_EQ(b.dgamma[std::size_t(c)], tree([](auto e) { return e.q; }));
      for (std::int64_t k = 0; k < slots.count(); ++k) {
        const auto e = expected_slot(p, c, k);
        EXPECT_EQ(f.mean[std::size_t(k * 3 + c)], e.mean);
        EXPECT_EQ(f.inv_std[std::size_t(k * 3 + c)], e.inv_std);
        const T scale = p.gamma[std::size_t(c)] * e.inv_std;
        const T slope = -(scale * e.inv_std) * (e.q * (1 / e.n)), shift = -scale * (e.p * (1 / e.n));
        for (std::int64_t r = 5 * c; r < 5 * c + 5; ++r)
          for (std::int64_t s = slots.begin(k); s < slots.end(k); ++s) {
            y(r, s) = std::fma(p.x(r, s) - e.mean, scale, p.beta[std::size_t(c)]);
            dx(r, s) = std::fma(scale, p.dy(r, s), std::fma(slope, p.x(r, s) - e.mean, shift));
          }
      }
    }
    EXPECT_TRUE(identical(f.y, y));
    EXPECT_TRUE(identical(b.dx, dx));
  }
}

TYPED_TEST(BatchNormOrder, SlotsAreNormalisedApart) {
  using T = TypeParam;
  Problem<T> p(2, 3, {4, 5});
  const auto before = p.forward();
  for (std::int64_t r = 0; r < 6; ++r) p.x(r, 8) += T(10);
  const auto after = p.forward();
  for (std::int64_t r = 0; r < 6; ++r)
    for (std::int64_t s = 0; s < 4; ++s) EXPECT_EQ(before.y(r, s), after.y(r, s));
  EXPECT_NE(before.y(0, 4), after.y(0, 4));
}

TYPED_TEST(BatchNormOrder, InPlaceAndWithoutDx) {
  using T = TypeParam;
  const Problem<T> p(2, 3, {4, 5});
  const auto f = p.forward();
  const auto wanted = p.backward(f), without = p.backward(f, false);
  EXPECT_TRUE(identical(without.dgamma, wanted.dgamma));
  EXPECT_TRUE(identical(without.dbeta, wanted.dbeta));
  auto buffer = p.dy;
  std::vector<T> dgamma = nan_vector<T>(2), dbeta = nan_vector<T>(2);
  KernelContext context;
  make_naive_table<T>().batch_norm_backward({.channels = 2,
                                             .pixels = 3,
                                             .x = p.x.view(),
                                             .dy = buffer.view(),
                                             .gamma = p.gamma.data(),
                                             .mean = f.mean.data(),
                                             .inv_std = f.inv_std.data(),
                                             .slots = p.cut.slots(),
                                             .dx = buffer.view(),
                                             .dgamma = dgamma.data(),
                                             .dbeta = dbeta.data()},
                                            context);
  EXPECT_TRUE(identical(buffer, wanted.dx));
}

TYPED_TEST(BatchNormOrder, InfersByRunningMeans) {
  using T = TypeParam;
  const Problem<T> p(3, 2, {7});
  const auto mean = random_vector<T>(3, 8), var = random_vector<T>(3, 9, 0.1, 2);
  TestMatrix<T> y(6, 7);
  KernelContext context;
  make_naive_table<T>().batch_norm_inference({.channels = 3,
                                              .pixels = 2,
                                              .eps = p.eps,
                                              .x = p.x.view(),
                                              .gamma = p.gamma.data(),
                                              .beta = p.beta.data(),
                                              .running_mean = mean.data(),
                                              .running_var = var.data(),
                                              .y = y.view()},
                                             context);
  for (std::int64_t r = 0; r < 6; ++r)
    for (std::int64_t s = 0; s < 7; ++s) {
      const auto c = std::size_t(r / 2);
      EXPECT_EQ(y(r, s), std::fma(p.x(r, s) - mean[c], p.gamma[c] / std::sqrt(var[c] + p.eps), p.beta[c]));
    }
}

}  // namespace
}  // namespace lockstep::test
