// max and x x^T on teams: the bits of the serial definition for any number of threads, with and without the symmetry.

#include "cli/bench/team_primitives.hpp"

#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/kernels/simd/table.hpp"

#include <gtest/gtest.h>

#include "tests/kernels/support.hpp"

namespace lockstep::test {
namespace {

using cli::team_elementwise_max;
using cli::TeamXxt;

TEST(TeamElementwiseMax, AnyNumberOfThreads) {
  for (const auto& shape : {std::pair{1, 1}, {2, 17}, {7, 5}, {31, 64}}) {
    const std::int64_t rows = shape.first, cols = shape.second;
    std::vector<std::int32_t> a, b;
    for (std::int64_t i = 0; i < rows * cols; ++i) {
      a.push_back(static_cast<std::int32_t>(128 * (random_value(1, i) + 1)));
      b.push_back(static_cast<std::int32_t>(128 * (random_value(2, i) + 1)));
    }
    std::vector<std::int32_t> expected(a.size(), -1);
    const auto problem = [&](std::vector<std::int32_t>& c) {
      return ElementwiseMax{.a = dense_matrix<const std::int32_t>(a.data(), rows, cols),
                            .b = dense_matrix<const std::int32_t>(b.data(), rows, cols),
                            .c = dense_matrix(c.data(), rows, cols)};
    };
    naive_primitives().elementwise_max(problem(expected));
    for (const int threads : {1, 2, 3, 5}) {
      Team team(threads);
      std::vector<std::int32_t> c(a.size(), -1);
      team_elementwise_max(simd_primitives(chosen_isa()), problem(c), team);
      EXPECT_EQ(c, expected) << rows << "x" << cols << " on " << threads;
    }
  }
}

TEST(TeamXxt, AnyNumberOfThreadsAnyKernel) {
  // 96 is the block of rows: one less, it, one more, and several with a rest.
  for (const auto& [n, k] : {std::pair{1, 1}, {3, 0}, {5, 17}, {95, 3}, {96, 2}, {97, 33}, {401, 40}}) {
    const TestMatrix<float> x(n, k, 5);
    TestMatrix<float> expected(n, n);
    naive_primitives().xxt({.x = x.view(), .y = expected.view()});
    std::vector<KernelTable<float>> tables = {make_naive_table<float>()};
    for (const Isa isa : supported_isas()) tables.push_back(make_simd_table<float>(isa));
    for (const KernelTable<float>& table : tables)
      for (const bool symmetric : {false, true})
        for (const int threads : {1, 2, 3}) {
          TestMatrix<float> y(n, n);
          TeamXxt product(table.linear_forward, {.x = x.view(), .y = y.view()}, symmetric, threads);
          product.run();
          product.run();  // what the first call left behind does not matter
          EXPECT_TRUE(identical(y, expected)) << table.backend << " " << n << "x" << k << " on " << threads;
        }
  }
}

}  // namespace
}  // namespace lockstep::test
