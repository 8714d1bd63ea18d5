// The tools of the SIMD tests must be able to fail.
#include <gtest/gtest-spi.h>

#include "tests/kernels/simd/tables.hpp"

namespace lockstep::test {
namespace {

TEST(OddMatrix, SeesEveryStrayWrite) {
  const std::int64_t rows = 3, cols = 4, stride = 6, shift = 2;
  for (std::int64_t at = -shift; at < rows * stride + 10; ++at)
    for (const bool output : {false, true}) {
      OddMatrix<float> m =
          output ? OddMatrix<float>(rows, cols, stride, shift) : OddMatrix<float>(rows, cols, stride, shift, 1);
      EXPECT_TRUE(m.outside_untouched());
      m.view().data[at] = 1;
      const bool inside = at >= 0 && at < rows * stride && at % stride < cols;
      EXPECT_EQ(m.outside_untouched(), inside) << at;
      const bool beyond = at < 0 || at >= (rows - 1) * stride + cols;
      EXPECT_EQ(m.ends_untouched(), !beyond) << at;
    }
}

TEST(OddMatrix, OutputsSeeNanWrittenAroundThem) {
  OddMatrix<double> m(2, 3, 5, 0);
  m.view().data[3] = kNan<double>;
  EXPECT_FALSE(m.outside_untouched());
}

TEST(OddMatrix, ComparisonSeesATranspose) {
  OddMatrix<float> m(3, 3, 4, 1, 1), transposed(3, 3, 3, 0);
  for (std::int64_t r = 0; r < 3; ++r)
    for (std::int64_t c = 0; c < 3; ++c) transposed.set(c, r, m.view()(r, c));
  EXPECT_TRUE(identical(m.elements(), m.elements()));
  EXPECT_FALSE(identical(m.elements(), transposed.elements()));
}

TEST(ExpectLikeNaive, SeesOneWrongElement) {
  const auto with_error = [](std::size_t size, std::size_t wrong) {
    return [=](const KernelTable<float>& table) {
      std::vector<float> values(5, 1.0F);
      if (table.backend.starts_with("simd")) {
        values.resize(size);
        if (wrong < size) values[wrong] = std::nextafter(1.0F, 2.0F);
      }
      return values;
    };
  };
  const auto fails = [](const auto& run) {
    ::testing::TestPartResultArray results;
    {
      const ::testing::ScopedFakeTestPartResultReporter reporter(
          ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
      expect_like_naive<float>(run);
    }
    return results.size() == int(simd_tables<float>().size());
  };
  EXPECT_TRUE(fails(with_error(5, 3)));
  EXPECT_TRUE(fails(with_error(4, 9)));
  EXPECT_NO_FATAL_FAILURE(expect_like_naive<float>(with_error(5, 9)));
}

}  // namespace
}  // namespace lockstep::test
