// The three builds of the naive kernels are the same function: -O3 with the fma instruction, -O3 with the C library's
// fma, and -O0.
#include "lockstep/kernels/backend.hpp"
#include "tests/kernels/every_operation.hpp"

namespace lockstep::test {
namespace {

bool has_fma() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("fma");
#else
  return true;
#endif
}

template <class T>
class NaiveVariants : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_fma()) GTEST_SKIP() << "this processor has no fma instruction, so only naive_portable can run";
  }

  static void expect_same(const KernelTable<T>& actual, const KernelTable<T>& expected) {
    for (std::uint64_t stream = 1000; stream < 5000; stream += 1000) {
      const EveryOperation<T> a(actual, stream), b(expected, stream);
      ASSERT_EQ(a.outputs().size(), b.outputs().size());
      for (std::size_t i = 0; i < a.outputs().size(); ++i)
        EXPECT_TRUE(identical(a.outputs()[i].values, b.outputs()[i].values)) << a.outputs()[i].operation;
    }
  }
};
TYPED_TEST_SUITE(NaiveVariants, Scalars);

TYPED_TEST(NaiveVariants, PortableHasTheBitsOfFma) {
  this->expect_same(naive_portable::make_table<TypeParam>(), naive_fma::make_table<TypeParam>());
}

TYPED_TEST(NaiveVariants, SameBitsAtEveryLevel) {
  this->expect_same(naive_o0::make_table<TypeParam>(), naive_fma::make_table<TypeParam>());
}

TYPED_TEST(NaiveVariants, EveryOutputIsWritten) {
  // The comparison above would say nothing about kernels that write nothing or always the same.
  const EveryOperation<TypeParam> a(naive_fma::make_table<TypeParam>(), 1), b(naive_fma::make_table<TypeParam>(), 2);
  for (std::size_t i = 0; i < a.outputs().size(); ++i) {
    const auto& [operation, values] = a.outputs()[i];
    std::size_t nans = 0;
    for (const TypeParam v : values) nans += std::isnan(v) ? 1 : 0;
    EXPECT_LE(nans, operation.starts_with("activation") ? 5U : 0U) << operation;
    EXPECT_FALSE(identical(values, b.outputs()[i].values)) << operation;
  }
}

TEST(Backends, AreNamed) {
  EXPECT_EQ(make_table<float>(Backend::naive).linear_forward.name.substr(0, 5), "naive");
  ASSERT_GE(backend_names().size(), 2U);
  EXPECT_EQ(backend_names()[std::size_t(Backend::naive)], "naive");
  EXPECT_EQ(backend_names()[std::size_t(Backend::naive_o0)], "naive-o0");
  if (has_fma()) {
    EXPECT_EQ(make_table<double>(Backend::naive_o0).backend, "naive-o0");
  }
}

}  // namespace
}  // namespace lockstep::test
