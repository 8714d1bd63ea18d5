// Optimiser steps against naive, bit by bit, over ranges of every length and alignment.
#include "lockstep/kernels/optimizer.hpp"

#include "tests/kernels/simd/tables.hpp"

namespace lockstep::test {
namespace {

constexpr std::int64_t kCounts[] = {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 1000};

/// The vectors of an optimiser, `shift` elements into their memory, with NaN around them.
template <class T>
struct State {
  State(std::int64_t n, std::int64_t shift)
      : g(1, n, n, shift, 1), w(1, n, n, shift, 2), m(1, n, n, shift, 3), v(1, n, n, shift, 4) {
    for (std::int64_t i = 0; i < n; ++i) v.set(0, i, std::abs(v.view()(0, i)));
    if (n > 2) {  // a gradient that was always 0, and one that vanishes when squared
      g.set(0, 1, T(0));
      v.set(0, 1, T(0));
      g.set(0, 2, std::numeric_limits<T>::denorm_min());
    }
  }
  std::vector<T> all() {
    std::vector<T> values;
    for (OddMatrix<T>* x : {&g, &w, &m, &v}) collect(values, *x);
    return values;
  }
  OddMatrix<T> g, w, m, v;
};

template <class T>
class SimdOptimizer : public ::testing::Test {
 protected:
  /// step(table, count, state, context)
  template <class Step>
  void compare(const Step& step) {
    for (const std::int64_t count : kCounts)
      for (const std::int64_t shift : {0, 3}) {
        SCOPED_TRACE(::testing::Message() << count << " elements, shift " << shift);
        expect_like_naive<T>([&](const KernelTable<T>& table) {
          KernelContext context;
          State<T> state(count, shift);
          step(table, count, state, context);
          return state.all();
        });
      }
  }
};
TYPED_TEST_SUITE(SimdOptimizer, Scalars);

TYPED_TEST(SimdOptimizer, L2AndScale) {
  using T = TypeParam;
  this->compare([](const KernelTable<T>& table, std::int64_t n, State<T>& s, KernelContext& context) {
    table.add_l2({.count = n, .l2 = T(0.3), .w = s.w.view().data, .g = s.g.view().data}, context);
    table.scale_gradient({.count = n, .factor = T(0.7), .g = s.g.view().data}, context);
  });
}

TYPED_TEST(SimdOptimizer, Sgd) {
  using T = TypeParam;
  for (const int kind : {0, 1, 2})  // plain, momentum, Nesterov
    this->compare([&](const KernelTable<T>& table, std::int64_t n, State<T>& s, KernelContext& context) {
      table.sgd_step({.count = n,
                      .lr = T(0.1),
                      .momentum = kind == 0 ? T(0) : T(0.9),
                      .nesterov = kind == 2,
                      .g = s.g.view().data,
                      .w = s.w.view().data,
                      .v = kind == 0 ? nullptr : s.m.view().data},
                     context);
    });
}

TYPED_TEST(SimdOptimizer, Adam) {
  using T = TypeParam;
  for (const T decay : {T(1), T(0.99)})
    this->compare([&](const KernelTable<T>& table, std::int64_t n, State<T>& s, KernelContext& context) {
      for (int step = 1; step < 4; ++step)
        table.adam_step({.count = n,
                         .rate = T(0.01) / T(step),
                         .inv_root2 = T(3) / T(step),
                         .beta1 = T(0.9),
                         .beta2 = T(0.999),
                         .eps = T(1e-8),
                         .decay_factor = decay,
                         .g = s.g.view().data,
                         .w = s.w.view().data,
                         .m = s.m.view().data,
                         .v = s.v.view().data},
                        context);
    });
}

TYPED_TEST(SimdOptimizer, Rmsprop) {
  using T = TypeParam;
  this->compare([](const KernelTable<T>& table, std::int64_t n, State<T>& s, KernelContext& context) {
    for (int step = 0; step < 3; ++step)
      table.rmsprop_step({.count = n,
                          .lr = T(0.01),
                          .alpha = T(0.9),
                          .eps = T(1e-8),
                          .g = s.g.view().data,
                          .w = s.w.view().data,
                          .v = s.v.view().data},
                         context);
  });
}

TYPED_TEST(SimdOptimizer, Lion) {
  using T = TypeParam;
  this->compare([](const KernelTable<T>& table, std::int64_t n, State<T>& s, KernelContext& context) {
    if (n > 0) s.g.view().data[0] = s.m.view().data[0] = 0;  // sign(0)
    for (int step = 0; step < 3; ++step)
      table.lion_step({.count = n,
                       .lr = T(0.01),
                       .beta1 = T(0.9),
                       .beta2 = T(0.99),
                       .decay_factor = T(0.999),
                       .g = s.g.view().data,
                       .w = s.w.view().data,
                       .m = s.m.view().data},
                      context);
  });
}

TYPED_TEST(SimdOptimizer, SquareSums) {
  using T = TypeParam;
  // Around one block, the eight blocks that go side by side, and their rests.
  for (const std::int64_t count : {0, 1, 1023, 1024, 1025, 8191, 8192, 8193, 20000}) {
    const auto x = random_vector<T>(count, 5);
    const auto run = [&](const KernelTable<T>& table) {
      KernelContext context;
      auto partial = nan_vector<double>((count + kSquareBlock - 1) / kSquareBlock + 2);
      table.square_sums({.count = count, .x = x.data(), .partial = partial.data()}, context);
      return partial;
    };
    for (const auto& table : simd_tables<T>())
      EXPECT_TRUE(identical(run(table), run(make_naive_table<T>()))) << table.backend << " " << count;
  }
}

}  // namespace
}  // namespace lockstep::test
