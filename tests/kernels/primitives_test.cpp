// max and x x^T: the definition against values by hand, every build of the kernels against the definition.

#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/kernels/simd/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/kernels/support.hpp"

namespace lockstep::test {
namespace {

constexpr std::int32_t kCanary = -77;

/// Integers with rows `stride` apart; what lies between them is kCanary.
struct Integers {
  Integers(std::int64_t rows_, std::int64_t cols_, std::int64_t stride_)
      : rows(rows_), cols(cols_), stride(stride_), values(static_cast<std::size_t>(rows * stride + 1), kCanary) {}
  Integers(std::int64_t rows_, std::int64_t cols_, std::int64_t stride_, std::uint64_t stream)
      : Integers(rows_, cols_, stride_) {
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < cols; ++c)
        view()(r, c) = static_cast<std::int32_t>(128 * (random_value(stream, r * cols + c) + 1));
  }
  Matrix<std::int32_t> view() { return {values.data() + 1, rows, cols, stride}; }

  std::int64_t rows, cols, stride;
  std::vector<std::int32_t> values;
};

std::vector<PrimitiveTable> other_tables() {
  std::vector<PrimitiveTable> tables = {naive_portable::make_primitives()};
  for (const Isa isa : supported_isas()) tables.push_back(simd_primitives(isa));
  if (make_naive_table<float>().backend == "naive") tables.push_back(naive_o0_primitives());
  return tables;
}

TEST(ElementwiseMax, ByHand) {
  std::vector<std::int32_t> a = {0, 255, 7, -3}, b = {1, 254, 7, 2}, c = {9, 9, 9, 9};
  naive_primitives().elementwise_max(
      {.a = dense_matrix(a.data(), 2, 2), .b = dense_matrix(b.data(), 2, 2), .c = dense_matrix(c.data(), 2, 2)});
  EXPECT_EQ(c, (std::vector<std::int32_t>{1, 255, 7, 2}));
}

TEST(ElementwiseMax, EveryBuildGivesTheSame) {
  for (const std::int64_t cols : {0, 1, 3, 7, 8, 15, 16, 17, 31, 33, 64, 101})
    for (const std::int64_t rows : {1, 5}) {
      Integers a(rows, cols, cols + 3, 1), b(rows, cols, cols + 1, 2), expected(rows, cols, cols + 2);
      naive_primitives().elementwise_max({.a = a.view(), .b = b.view(), .c = expected.view()});
      for (const PrimitiveTable& table : other_tables()) {
        Integers c(rows, cols, cols + 2);
        table.elementwise_max({.a = a.view(), .b = b.view(), .c = c.view()});
        EXPECT_EQ(c.values, expected.values) << table.name << " " << rows << "x" << cols;
      }
    }
}

TEST(Xxt, ByHand) {
  std::vector<float> x = {1, 2, 3, 4, 5, 6}, y(9, kNan<float>);
  naive_primitives().xxt({.x = dense_matrix<const float>(x.data(), 3, 2), .y = dense_matrix(y.data(), 3, 3)});
  EXPECT_EQ(y, (std::vector<float>{5, 11, 17, 11, 25, 39, 17, 39, 61}));
}

TEST(Xxt, OneChainOfFusedMultiplyAddsFromZero) {
  // 1 + 2^-12 squared needs 25 bits: a product that is rounded before it is added loses the last of them.
  std::vector<float> x = {-1.0F, 1 + 0x1p-12F}, y(1);
  naive_primitives().xxt({.x = dense_matrix<const float>(x.data(), 1, 2), .y = dense_matrix(y.data(), 1, 1)});
  EXPECT_EQ(y[0], std::fma(x[1], x[1], 1.0F));
  x = {1e8F, 1.0F, 1.0F, 1.0F};  // the order: small terms vanish behind a large one
  naive_primitives().xxt({.x = dense_matrix<const float>(x.data(), 1, 4), .y = dense_matrix(y.data(), 1, 1)});
  EXPECT_EQ(y[0], 1e16F);
}

TEST(Xxt, EveryBuildGivesTheSame) {
  for (const auto& [n, k] : {std::pair{1, 0}, {1, 1}, {3, 5}, {17, 16}, {33, 7}}) {
    const TestMatrix<float> x(n, k, 4);
    TestMatrix<float> expected(n, n);
    naive_primitives().xxt({.x = x.view(), .y = expected.view()});
    for (const PrimitiveTable& table : other_tables()) {
      if (table.xxt == nullptr) continue;
      TestMatrix<float> y(n, n);
      table.xxt({.x = x.view(), .y = y.view()});
      EXPECT_TRUE(identical(y, expected)) << table.name << " " << n << "x" << k;
    }
  }
}

TEST(Xxt, CostCountsTheSums) {
  EXPECT_EQ(xxt_cost(784, 128).flops, 2.0 * 784 * 784 * 128);
  EXPECT_EQ(xxt_cost(3, 10, true).flops, 2.0 * 6 * 10);
  EXPECT_EQ(elementwise_max_cost(1000, 1000).bytes, 12e6);
}

}  // namespace
}  // namespace lockstep::test
