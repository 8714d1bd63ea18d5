#include "lockstep/kernels/add.hpp"

#include "tests/kernels/support.hpp"

namespace lockstep::test {
namespace {

template <class T>
class AddKernel : public ::testing::Test {};
TYPED_TEST_SUITE(AddKernel, Scalars);

TYPED_TEST(AddKernel, AddsElementsAlsoInPlace) {
  using T = TypeParam;
  KernelContext context;
  const auto add = make_naive_table<T>().add;
  for (const std::int64_t samples : {0, 1, 16, 17}) {
    const TestMatrix<T> a(5, samples, 1), b(5, samples, 2);
    TestMatrix<T> y(5, samples), left = a, right = b;
    add({.a = a.view(), .b = b.view(), .y = y.view()}, context);
    add({.a = left.view(), .b = b.view(), .y = left.view()}, context);
    add({.a = a.view(), .b = right.view(), .y = right.view()}, context);
    for (std::int64_t r = 0; r < 5; ++r)
      for (std::int64_t s = 0; s < samples; ++s) EXPECT_EQ(y(r, s), a(r, s) + b(r, s));
    EXPECT_TRUE(identical(left, y));
    EXPECT_TRUE(identical(right, y));
  }
}

}  // namespace
}  // namespace lockstep::test
