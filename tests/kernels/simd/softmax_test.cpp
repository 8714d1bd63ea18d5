// Softmax against naive, bit by bit, in place too.
#include "lockstep/kernels/softmax.hpp"

#include "tests/kernels/simd/tables.hpp"

namespace lockstep::test {
namespace {

template <class T>
class SimdSoftmax : public ::testing::Test {
 protected:
  static OddMatrix<T> input(std::int64_t features, std::int64_t samples, const Layout& layout, std::uint64_t stream) {
    OddMatrix<T> x(features, samples, layout.stride, layout.shift, stream);
    for (std::int64_t r = 0; r < features; ++r)
      for (std::int64_t s = 0; s < samples; ++s) x.set(r, s, x.view()(r, s) * T(1 + s * s % 100));  // far apart too
    if (features > 2) {
      x.set(1, 0, x.view()(0, 0));  // a tie
      x.set(2, samples - 1, kNan<T>);
      x.set(0, samples / 2, std::numeric_limits<T>::infinity());
    }
    return x;
  }
};
TYPED_TEST_SUITE(SimdSoftmax, Scalars);

TYPED_TEST(SimdSoftmax, MatchesNaive) {
  using T = TypeParam;
  for (const std::int64_t features : {1, 2, 10, 37})
    for (const std::int64_t samples : kAwkwardSamples)
      for (const Layout& layout : layouts(samples)) {
        SCOPED_TRACE(::testing::Message() << features << " x " << samples << " stride " << layout.stride);
        expect_like_naive<T>([&](const KernelTable<T>& table) {
          KernelContext context;
          auto x = this->input(features, samples, layout, 1);
          OddMatrix<T> y(features, samples, layout.stride, layout.shift), dx(features, samples, samples, 0),
              dy(features, samples, layout.stride, layout.shift, 2);
          table.softmax_forward({.x = x.view(), .y = y.view()}, context);
          table.softmax_forward({.x = x.view(), .y = x.view()}, context);
          table.softmax_backward({.y = y.view(), .dy = dy.view(), .dx = dx.view()}, context);
          table.softmax_backward({.y = y.view(), .dy = dy.view(), .dx = dy.view()}, context);
          std::vector<T> all;
          for (OddMatrix<T>* m : {&x, &y, &dx, &dy}) collect(all, *m);
          return all;
        });
      }
}

}  // namespace
}  // namespace lockstep::test
