// OpenBLAS against naive: awkward shapes, odd places in memory, uneven and empty slots.
#include "tests/kernels/library/bounds.hpp"

namespace lockstep::test {
namespace {

struct Dims {
  std::int64_t in, out, samples;
};
const Dims kDims[] = {{1, 1, 1},    {3, 2, 5},      {7, 13, 15}, {31, 12, 31}, {5, 23, 64}, {600, 3, 16},
                      {3, 300, 33}, {784, 128, 16}, {40, 0, 4},  {0, 4, 6},    {4, 5, 0}};

template <class T>
class LibraryLinear : public LibraryTest<T> {
 protected:
  template <class Check>
  static void for_each(const Check& check) {
    for (const Dims& d : kDims)
      for (const Layout& layout : layouts(d.samples)) {
        SCOPED_TRACE(::testing::Message()
                     << "in " << d.in << " out " << d.out << " samples " << d.samples << " stride " << layout.stride);
        check(d, layout);
      }
  }
  KernelContext context_;
};
TYPED_TEST_SUITE(LibraryLinear, Scalars);

TYPED_TEST(LibraryLinear, Forward) {
  using T = TypeParam;
  for (const bool with_bias : {false, true})
    this->for_each([&](const Dims& d, const Layout& l) {
      OddMatrix<T> x(d.in, d.samples, l.stride, l.shift, 1), w(d.out, d.in, d.in, l.shift, 2);
      const auto b = random_vector<T>(d.out, 3);
      const auto run = [&](const KernelTable<T>& kernels) {
        OddMatrix<T> y(d.out, d.samples, l.stride, l.shift);
        kernels.linear_forward({.x = x.view(), .w = w.view(), .b = with_bias ? b.data() : nullptr, .y = y.view()},
                               this->context_);
        EXPECT_TRUE(y.outside_untouched());
        return y.elements();
      };
      const auto large_x = magnitudes(x.view()), large_w = magnitudes(w.view());
      const auto large_b = magnitudes(b);
      TestMatrix<double> size(d.out, d.samples);
      make_naive_table<double>().linear_forward(
          {.x = large_x.view(), .w = large_w.view(), .b = with_bias ? large_b.data() : nullptr, .y = size.view()},
          this->context_);
      EXPECT_TRUE(within(run(this->table), run(this->naive), sum_bounds<T>(elements(size), d.in)));
    });
}

TYPED_TEST(LibraryLinear, BackwardData) {
  using T = TypeParam;
  this->for_each([&](const Dims& d, const Layout& l) {
    OddMatrix<T> dy(d.out, d.samples, l.stride, l.shift, 1), w(d.out, d.in, d.in, l.shift, 2);
    const auto run = [&](const KernelTable<T>& kernels) {
      OddMatrix<T> dx(d.in, d.samples, l.stride, l.shift);
      kernels.linear_backward_data({.w = w.view(), .dy = dy.view(), .dx = dx.view()}, this->context_);
      EXPECT_TRUE(dx.outside_untouched());
      return dx.elements();
    };
    const auto large_dy = magnitudes(dy.view()), large_w = magnitudes(w.view());
    TestMatrix<double> size(d.in, d.samples);
    make_naive_table<double>().linear_backward_data({.w = large_w.view(), .dy = large_dy.view(), .dx = size.view()},
                                                    this->context_);
    EXPECT_TRUE(within(run(this->table), run(this->naive), sum_bounds<T>(elements(size), d.out)));
  });
}

TYPED_TEST(LibraryLinear, BackwardWeights) {
  using T = TypeParam;
  for (const auto& sizes : kCuts) {
    const Cut cut(sizes);
    const std::int64_t samples = cut.samples();
    for (const Dims& d : kDims) {
      SCOPED_TRACE(::testing::Message() << "in " << d.in << " out " << d.out << " samples " << samples);
      OddMatrix<T> x(d.in, samples, samples + 1, 1, 1), dy(d.out, samples, samples + 3, 0, 2);
      const auto run = [&](const KernelTable<T>& kernels) {
        OddMatrix<T> dw(d.out, d.in, d.in, 1);
        auto db = nan_vector<T>(d.out);
        kernels.linear_backward_weights(
            {.x = x.view(), .dy = dy.view(), .slots = cut.slots(), .dw = dw.view(), .db = db.data()}, this->context_);
        EXPECT_TRUE(dw.outside_untouched());
        auto result = dw.elements();
        collect(result, db);
        return result;
      };
      const auto large_x = magnitudes(x.view()), large_dy = magnitudes(dy.view());
      TestMatrix<double> size(d.out, d.in);
      auto bias_size = nan_vector<double>(d.out);
      make_naive_table<double>().linear_backward_weights(
          {.x = large_x.view(), .dy = large_dy.view(), .slots = cut.slots(), .dw = size.view(), .db = bias_size.data()},
          this->context_);
      auto all = elements(size);
      collect(all, bias_size);
      EXPECT_TRUE(within(run(this->table), run(this->naive), sum_bounds<T>(all, samples)));
    }
  }
}

}  // namespace
}  // namespace lockstep::test
