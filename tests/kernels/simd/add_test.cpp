// Addition against naive, bit by bit; in place on either side.
#include "lockstep/kernels/add.hpp"

#include "tests/kernels/simd/tables.hpp"

namespace lockstep::test {
namespace {

template <class T>
class SimdAdd : public ::testing::Test {};
TYPED_TEST_SUITE(SimdAdd, Scalars);

TYPED_TEST(SimdAdd, MatchesNaive) {
  using T = TypeParam;
  for (const std::int64_t rows : {0, 1, 5})
    for (const std::int64_t samples : kAwkwardSamples)
      for (const Layout& layout : layouts(samples)) {
        SCOPED_TRACE(::testing::Message() << rows << " x " << samples << " stride " << layout.stride);
        expect_like_naive<T>([&](const KernelTable<T>& table) {
          KernelContext context;
          OddMatrix<T> a(rows, samples, layout.stride, layout.shift, 1), b(rows, samples, samples, 0, 2),
              y(rows, samples, layout.stride, layout.shift);
          table.add({.a = a.view(), .b = b.view(), .y = y.view()}, context);
          table.add({.a = a.view(), .b = b.view(), .y = a.view()}, context);
          table.add({.a = a.view(), .b = b.view(), .y = b.view()}, context);
          std::vector<T> all;
          for (OddMatrix<T>* m : {&a, &b, &y}) collect(all, *m);
          return all;
        });
      }
}

}  // namespace
}  // namespace lockstep::test
