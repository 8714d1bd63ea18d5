#include "lockstep/kernels/linear.hpp"

#include "tests/kernels/support.hpp"

namespace lockstep::test {
namespace {

struct Dims {
  std::int64_t in, out;
};
const std::vector<Dims> kDims = {{1, 1}, {3, 1}, {1, 5}, {7, 3}, {15, 16}, {17, 13}};

template <class T>
struct Problem {
  TestMatrix<T> x, w, dy;
  std::vector<T> b;

  Problem(Dims d, std::int64_t samples)
      : x(d.in, samples, 1), w(d.out, d.in, 2), dy(d.out, samples, 3), b(random_vector<T>(d.out, 4)) {}

  TestMatrix<T> forward(bool bias = true) const {
    TestMatrix<T> y(w.rows(), x.cols());
    KernelContext context;
    make_naive_table<T>().linear_forward({.x = x.view(), .w = w.view(), .b = bias ? b.data() : nullptr, .y = y.view()},
                                         context);
    return y;
  }
  TestMatrix<T> backward_data() const {
    TestMatrix<T> dx(w.cols(), x.cols());
    KernelContext context;
    make_naive_table<T>().linear_backward_data({.w = w.view(), .dy = dy.view(), .dx = dx.view()}, context);
    return dx;
  }
};

template <class T>
struct WeightGradient {
  TestMatrix<T> dw;
  std::vector<T> db;
};

template <class T>
WeightGradient<T> weight_gradient(ConstMatrix<T> x, ConstMatrix<T> dy, const Slots& slots, bool bias = true) {
  WeightGradient<T> g{TestMatrix<T>(dy.rows, x.rows), nan_vector<T>(dy.rows)};
  KernelContext context;
  make_naive_table<T>().linear_backward_weights(
      {.x = x, .dy = dy, .slots = slots, .dw = g.dw.view(), .db = bias ? g.db.data() : nullptr}, context);
  return g;
}

TEST(Linear, GradientsMatchCentralDifferences) {
  for (const Dims d : kDims)
    for (const std::int64_t samples : {1, 3, 17}) {
      Problem<double> p(d, samples);
      const auto objective = [&] { return weighted_sum(p.dy, p.forward()); };
      const Cut cut({samples});
      const auto g = weight_gradient<double>(p.x.view(), p.dy.view(), cut.slots());
      EXPECT_LT(gradient_error(p.x, p.backward_data(), objective), kGradientTolerance) << d.in << "-" << d.out;
      EXPECT_LT(gradient_error(p.w, g.dw, objective), kGradientTolerance) << d.in << "-" << d.out;
      EXPECT_LT(gradient_error(p.b, g.db, objective), kGradientTolerance) << d.in << "-" << d.out;
    }
}

template <class T>
class LinearOrder : public ::testing::Test {};
TYPED_TEST_SUITE(LinearOrder, Scalars);

/// acc = fma(a, b, acc) over the terms in the order given.
template <class T>
T chain(T start, const std::vector<std::pair<T, T>>& terms) {
  T sum = start;
  for (const auto& [a, b] : terms) sum = std::fma(a, b, sum);
  return sum;
}

TYPED_TEST(LinearOrder, OutputsAreOneChain) {
  using T = TypeParam;
  bool order_matters = false;
  for (const Dims d : kDims) {
    const Problem<T> p(d, 5);
    TestMatrix<T> expected(d.out, 5), without_bias(d.out, 5);
    for (std::int64_t o = 0; o < d.out; ++o)
      for (std::int64_t s = 0; s < 5; ++s) {
        std::vector<std::pair<T, T>> terms;
        for (std::int64_t i = 0; i < d.in; ++i) terms.emplace_back(p.w(o, i), p.x(i, s));
        expected(o, s) = chain(p.b[static_cast<std::size_t>(o)], terms);
        without_bias(o, s) = chain(T(0), terms);
        std::reverse(terms.begin(), terms.end());
        order_matters |= chain(T(0), terms) != without_bias(o, s);
      }
    EXPECT_TRUE(identical(p.forward(), expected)) << d.in << "-" << d.out;
    EXPECT_TRUE(identical(p.forward(false), without_bias)) << d.in << "-" << d.out;
  }
  EXPECT_TRUE(order_matters) << "these problems could not tell one order from another";
}

TYPED_TEST(LinearOrder, DataGradientsAreOneChain) {
  using T = TypeParam;
  for (const Dims d : kDims) {
    const Problem<T> p(d, 4);
    TestMatrix<T> expected(d.in, 4);
    for (std::int64_t i = 0; i < d.in; ++i)
      for (std::int64_t s = 0; s < 4; ++s) {
        std::vector<std::pair<T, T>> terms;
        for (std::int64_t o = 0; o < d.out; ++o) terms.emplace_back(p.w(o, i), p.dy(o, s));
        expected(i, s) = chain(T(0), terms);
      }
    EXPECT_TRUE(identical(p.backward_data(), expected)) << d.in << "-" << d.out;
  }
}

TYPED_TEST(LinearOrder, WeightGradientIsOneChain) {
  using T = TypeParam;
  const Problem<T> p({5, 3}, 37);
  const Cut cut({37});
  const auto g = weight_gradient<T>(p.x.view(), p.dy.view(), cut.slots());
  for (std::int64_t o = 0; o < 3; ++o) {
    T db = T(0);
    for (std::int64_t s = 0; s < 37; ++s) db += p.dy(o, s);
    EXPECT_EQ(g.db[static_cast<std::size_t>(o)], db);
    for (std::int64_t i = 0; i < 5; ++i) {
      std::vector<std::pair<T, T>> terms;
      for (std::int64_t s = 0; s < 37; ++s) terms.emplace_back(p.dy(o, s), p.x(i, s));
      EXPECT_EQ(g.dw(o, i), chain(T(0), terms));
    }
  }
}

TYPED_TEST(LinearOrder, ChunkIsTheTreeOfSlots) {
  using T = TypeParam;
  for (const auto& sizes : kCuts) {
    const Cut cut(sizes);
    const Problem<T> p({7, 3}, cut.samples());
    const auto whole = weight_gradient<T>(p.x.view(), p.dy.view(), cut.slots());
    std::vector<WeightGradient<T>> parts;
    for (std::int64_t k = 0; k < cut.slots().count(); ++k) {
      const std::int64_t first = cut.slots().begin(k), last = cut.slots().end(k);
      const Cut one({last - first});
      parts.push_back(weight_gradient<T>(p.x.columns(first, last), p.dy.columns(first, last), one.slots()));
    }
    for (std::int64_t o = 0; o < 3; ++o) {
      const auto db = [&](std::int64_t k) { return parts[std::size_t(k)].db[std::size_t(o)]; };
      EXPECT_TRUE(same_bits(whole.db[std::size_t(o)], slot_tree(db, 0, cut.slots().count())));
      for (std::int64_t i = 0; i < 7; ++i) {
        const auto dw = [&](std::int64_t k) { return parts[std::size_t(k)].dw(o, i); };
        EXPECT_TRUE(same_bits(whole.dw(o, i), slot_tree(dw, 0, cut.slots().count())));
      }
    }
  }
}

TYPED_TEST(LinearOrder, EmptySlotsAndNoBias) {
  using T = TypeParam;
  const Problem<T> p({3, 2}, 0);
  const Cut cut({0, 0});
  const auto g = weight_gradient<T>(p.x.view(), p.dy.view(), cut.slots(), false);
  EXPECT_TRUE(identical(elements(g.dw), std::vector<T>(6, T(0))));
  EXPECT_TRUE(identical(g.db, nan_vector<T>(2))) << "without a bias db is not touched";
}

}  // namespace
}  // namespace lockstep::test
