// Linear against naive, bit by bit: every table, awkward shapes, odd places in memory, uneven and empty slots.
#include "tests/kernels/simd/tables.hpp"

namespace lockstep::test {
namespace {

struct Dims {
  std::int64_t in, out, samples;
};

// Around the tile (6, 12 rows), the vectors (2 to 16 lanes), the blocks of terms (128, 256, 512) and of columns
// (32, 64), and row lengths of w that crowd into one set of the cache (256, 1024).
const Dims kDims[] = {{1, 1, 1},     {2, 3, 3},    {3, 2, 5},    {7, 13, 15},  {13, 7, 16},  {17, 5, 17},  {31, 12, 31},
                      {16, 6, 7},    {5, 23, 64},  {19, 18, 65}, {12, 11, 80}, {600, 3, 16}, {257, 9, 20}, {3, 300, 33},
                      {256, 140, 9}, {1024, 7, 8}, {40, 0, 4},   {0, 4, 6},    {4, 5, 0},    {64, 130, 70}};

template <class T>
class SimdLinear : public ::testing::Test {};
TYPED_TEST_SUITE(SimdLinear, Scalars);

template <class T, class Run>
void expect_like_naive(const Run& run, const char* what) {
  const auto naive = make_naive_table<T>();
  for (const auto& table : simd_tables<T>())
    for (const Dims& d : kDims)
      for (const Layout& layout : layouts(d.samples)) {
        SCOPED_TRACE(::testing::Message() << table.backend << " " << what << " in " << d.in << " out " << d.out
                                          << " samples " << d.samples << " stride " << layout.stride);
        EXPECT_TRUE(identical(run(table, d, layout), run(naive, d, layout)));
      }
}

TYPED_TEST(SimdLinear, Forward) {
  using T = TypeParam;
  for (const bool with_bias : {false, true})
    expect_like_naive<T>(
        [&](const KernelTable<T>& table, const Dims& d, const Layout& l) {
          KernelContext context;
          OddMatrix<T> x(d.in, d.samples, l.stride, l.shift, 1), w(d.out, d.in, d.in, l.shift, 2),
              y(d.out, d.samples, l.stride, l.shift);
          const auto b = random_vector<T>(d.out, 3);
          table.linear_forward({.x = x.view(), .w = w.view(), .b = with_bias ? b.data() : nullptr, .y = y.view()},
                               context);
          EXPECT_TRUE(y.outside_untouched());  // of a sequence, other steps lie there
          return y.elements();
        },
        "forward");
}

/// A few samples at every number of outputs around the vectors and their blocks, from w and from its transpose.
TYPED_TEST(SimdLinear, FewSamples) {
  using T = TypeParam;
  for (const std::int64_t samples : {1, 2, 3, 4, 5, 8})
    for (const std::int64_t out : {1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 63, 64, 65, 100, 129})
      for (const bool with_bias : {false, true}) {
        SCOPED_TRACE(::testing::Message() << samples << " samples, " << out << " outputs");
        constexpr std::int64_t kIn = 13;
        const std::int64_t w_stride = out + 3;
        OddMatrix<T> x(kIn, samples, samples, 1, 1), w(out, kIn, kIn, 0, 2), transposed(kIn, out, w_stride, 2);
        for (std::int64_t o = 0; o < out; ++o)
          for (std::int64_t i = 0; i < kIn; ++i) transposed.set(i, o, w.view()(o, i));
        const auto b = random_vector<T>(out, 3);
        test::expect_like_naive<T>([&](const KernelTable<T>& table) {
          KernelContext context;
          std::vector<T> all;
          for (const Layout& l : layouts(samples))
            for (const bool both : {false, true}) {
              OddMatrix<T> y(out, samples, l.stride, l.shift);
              table.linear_forward({.x = x.view(),
                                    .w = w.view(),
                                    .b = with_bias ? b.data() : nullptr,
                                    .y = y.view(),
                                    .w_transposed = both ? ConstMatrix<T>(transposed.view()) : ConstMatrix<T>{}},
                                   context);
              collect(all, y);
            }
          return all;
        });
      }
}

TYPED_TEST(SimdLinear, BackwardData) {
  using T = TypeParam;
  expect_like_naive<T>(
      [&](const KernelTable<T>& table, const Dims& d, const Layout& l) {
        KernelContext context;
        OddMatrix<T> dy(d.out, d.samples, l.stride, l.shift, 1), w(d.out, d.in, d.in, l.shift, 2),
            dx(d.in, d.samples, l.stride, l.shift);
        table.linear_backward_data({.w = w.view(), .dy = dy.view(), .dx = dx.view()}, context);
        EXPECT_TRUE(dx.outside_untouched());
        return dx.elements();
      },
      "backward data");
}

/// One step of sequences: its rows lie a row of all steps apart, here whole pages.
TYPED_TEST(SimdLinear, RowsFarApart) {
  using T = TypeParam;
  constexpr std::int64_t kIn = 70, kOut = 300;
  for (const std::int64_t samples : {1, 9, 16, 33, 64}) {
    SCOPED_TRACE(::testing::Message() << samples << " samples");
    const std::int64_t stride = 1024;
    test::expect_like_naive<T>([&](const KernelTable<T>& table) {
      KernelContext context;
      OddMatrix<T> x(kIn, samples, stride, 16, 1), w(kOut, kIn, kIn, 0, 2), y(kOut, samples, stride, 16);
      OddMatrix<T> dx(kIn, samples, stride, 16), dy(kOut, samples, stride, 16, 3);
      table.linear_forward({.x = x.view(), .w = w.view(), .y = y.view()}, context);
      table.linear_backward_data({.w = w.view(), .dy = dy.view(), .dx = dx.view()}, context);
      EXPECT_TRUE(y.outside_untouched() && dx.outside_untouched());
      std::vector<T> all;
      collect(all, y);
      collect(all, dx);
      return all;
    });
  }
}

TYPED_TEST(SimdLinear, BackwardWeights) {
  using T = TypeParam;
  for (const auto& sizes : kCuts) {
    const Cut cut(sizes);
    for (const bool with_bias : {false, true})
      expect_like_naive<T>(
          [&](const KernelTable<T>& table, const Dims& d, const Layout&) {
            KernelContext context;
            const std::int64_t samples = cut.samples(), in = d.in % 70;
            OddMatrix<T> x(in, samples, samples + 1, 1, 1), dy(d.out, samples, samples + 3, 0, 2), dw(d.out, in, in, 1);
            auto db = nan_vector<T>(d.out);
            table.linear_backward_weights({.x = x.view(),
                                           .dy = dy.view(),
                                           .slots = cut.slots(),
                                           .dw = dw.view(),
                                           .db = with_bias ? db.data() : nullptr},
                                          context);
            EXPECT_TRUE(dw.ends_untouched());
            auto result = dw.elements();
            if (with_bias) result.insert(result.end(), db.begin(), db.end());
            return result;
          },
          "backward weights");
  }
}

TYPED_TEST(SimdLinear, EqualSlotsMeetInTree) {
  using T = TypeParam;
  for (const auto& sizes : {std::vector<std::int64_t>(2, 16), std::vector<std::int64_t>(8, 16),
                            std::vector<std::int64_t>(16, 3), std::vector<std::int64_t>(4, 0)}) {
    const Cut cut(sizes);
    OddMatrix<T> x(37, cut.samples(), cut.samples(), 0, 1), dy(11, cut.samples(), cut.samples(), 0, 2);
    const auto run = [&](const KernelTable<T>& table) {
      KernelContext context;
      OddMatrix<T> dw(11, 37, 37, 0);
      table.linear_backward_weights({.x = x.view(), .dy = dy.view(), .slots = cut.slots(), .dw = dw.view()}, context);
      return dw.elements();
    };
    for (const auto& table : simd_tables<T>())
      EXPECT_TRUE(identical(run(table), run(make_naive_table<T>()))) << table.backend << " " << sizes.size();
  }
}

}  // namespace
}  // namespace lockstep::test
