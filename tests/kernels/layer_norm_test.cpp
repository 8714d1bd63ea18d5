#include "lockstep/kernels/layer_norm.hpp"

#include <array>

#include "tests/kernels/support.hpp"

namespace lockstep::test {
namespace {

template <class T>
struct Problem {
  Cut cut;
  TestMatrix<T> x, dy;
  std::vector<T> gamma, beta;
  T eps = T(1e-5);

  Problem(std::int64_t features, const std::vector<std::int64_t>& slot_sizes)
      : cut(slot_sizes),
        x(features, cut.samples(), 1),
        dy(features, cut.samples(), 2),
        gamma(random_vector<T>(features, 3, 0.5, 1.5)),
        beta(random_vector<T>(features, 4)) {}

  struct Forward {
    TestMatrix<T> y;
    std::vector<T> mean, inv_std;
  };
  struct Backward {
    TestMatrix<T> dx;
    std::vector<T> dgamma, dbeta;
  };

  Forward forward(bool statistics = true) const {
    Forward f{TestMatrix<T>(x.rows(), x.cols()), nan_vector<T>(x.cols()), nan_vector<T>(x.cols())};
    KernelContext context;
    make_naive_table<T>().layer_norm_forward({.eps = eps,
                                              .x = x.view(),
                                              .gamma = gamma.data(),
                                              .beta = beta.data(),
                                              .y = f.y.view(),
                                              .mean = statistics ? f.mean.data() : nullptr,
                                              .inv_std = statistics ? f.inv_std.data() : nullptr},
                                             context);
    return f;
  }

  Backward backward(const Forward& f, bool want_dx = true) const {
    Backward b{TestMatrix<T>(x.rows(), x.cols()), nan_vector<T>(x.rows()), nan_vector<T>(x.rows())};
    KernelContext context;
    make_naive_table<T>().layer_norm_backward({.x = x.view(),
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

TEST(LayerNorm, GradientsMatchCentralDifferences) {
  for (const auto& sizes : kCuts)
    for (const std::int64_t features : {2, 3, 7}) {
      Problem<double> p(features, sizes);
      p.eps = 0.1;  // two features differ by little: without it h would jump between -1 and 1
      const auto b = p.backward(p.forward());
      const auto objective = [&] { return weighted_sum(p.dy, p.forward().y); };
      EXPECT_LT(gradient_error(p.x, b.dx, objective), kGradientTolerance) << features << " features";
      EXPECT_LT(gradient_error(p.gamma, b.dgamma, objective), kGradientTolerance) << features << " features";
      EXPECT_LT(gradient_error(p.beta, b.dbeta, objective), kGradientTolerance) << features << " features";
    }
}

template <class T>
class LayerNormOrder : public ::testing::Test {};
TYPED_TEST_SUITE(LayerNormOrder, Scalars);

/// take(sample, sum) over one slot in the documented order.
template <class T, class Take>
T slot_sum(const Slots& slots, std::int64_t slot, const Take& take) {
  std::array<T, 16> lanes{};
  for (std::int64_t j = 0; j < slots.size(slot); ++j) {
    T& lane = lanes[std::size_t(j % 16)];
    lane = take(slots.begin(slot) + j, lane);
  }
  for (std::size_t step : {8, 4, 2, 1})
    for (std::size_t l = 0; l < step; ++l) lanes[l] += lanes[l + step];
  return lanes[0];
}

TYPED_TEST(LayerNormOrder, FollowsTheHeader) {
  using T = TypeParam;
  for (const auto& sizes : kCuts) {
    const Problem<T> p(5, sizes);
    const Slots slots = p.cut.slots();
    const auto f = p.forward();
    const auto b = p.backward(f);
    TestMatrix<T> y(5, p.cut.samples()), dx = y, h = y;
    const T share = T(1) / T(5);
    for (std::int64_t s = 0; s < p.cut.samples(); ++s) {
      T sum = 0, squares = 0, first = 0, second = 0;
      for (std::int64_t r = 0; r < 5; ++r) sum += p.x(r, s);
      const T mean = sum * share;
      for (std::int64_t r = 0; r < 5; ++r) squares = std::fma(p.x(r, s) - mean, p.x(r, s) - mean, squares);
      const T inv_std = 1 / std::sqrt(squares * share + p.eps);
      EXPECT_EQ(f.mean[std::size_t(s)], mean);
      EXPECT_EQ(f.inv_std[std::size_t(s)], inv_std);
      for (std::int64_t r = 0; r < 5; ++r) {
        const T gamma = p.gamma[std::size_t(r)];
        h(r, s) = (p.x(r, s) - mean) * inv_std;
        y(r, s) = std::fma(h(r, s), gamma, p.beta[std::size_t(r)]);
        first = std::fma(gamma, p.dy(r, s), first);
        second = std::fma(gamma * p.dy(r, s), h(r, s), second);
      }
      for (std::int64_t r = 0; r < 5; ++r)
        dx(r, s) = inv_std * std::fma(p.gamma[std::size_t(r)], p.dy(r, s), -(std::fma(h(r, s), second, first) * share));
    }
    EXPECT_TRUE(identical(f.y, y));
    EXPECT_TRUE(identical(b.dx, dx));
    for (std::int64_t r = 0; r < 5; ++r) {
      const auto over_slots = [&](const auto& take) {
        return slot_tree([&](std::int64_t slot) { return slot_sum<T>(slots, slot, take); }, 0, slots.count());
      };
      EXPECT_EQ(b.dbeta[std::size_t(r)], over_slots([&](std::int64_t s, T sum) { return sum + p.dy(r, s); }));
      EXPECT_EQ(b.dgamma[std::size_t(r)],
                over_slots([&](std::int64_t s, T sum) { return std::fma(p.dy(r, s), h(r, s), sum); }));
    }
  }
}

TYPED_TEST(LayerNormOrder, OutputsMayBeUnwanted) {
  using T = TypeParam;
  const Problem<T> p(6, {4, 5});
  const auto f = p.forward();
  EXPECT_TRUE(identical(p.forward(false).y, f.y));
  EXPECT_TRUE(identical(p.backward(f, false).dgamma, p.backward(f).dgamma));
  EXPECT_TRUE(identical(p.backward(f, false).dbeta, p.backward(f).dbeta));
}

}  // namespace
}  // namespace lockstep::test
