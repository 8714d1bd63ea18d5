#include "lockstep/data/scaling.hpp"

#include <cmath>

#include "lockstep/data/memory_dataset.hpp"
#include "tests/data/support.hpp"

namespace lockstep {
namespace {

TEST(Standardising, GivesMeanZeroAndDeviationOne) {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) {
    values.push_back(5 + 0.01 * i * (i % 7));
    values.push_back(3.0);
    values.push_back(-1e-3 * (i % 10));
  }
  const MemoryDataset raw(array_from<double>({1000, 3}, values), {3}, {});
  const Scaling scaling = standardising(raw, 0.25);
  const std::vector<double> x = gathered<double>(*raw.scaled(scaling), ids_from(0, 1000));
  for (const std::size_t f : {std::size_t{0}, std::size_t{2}}) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < 1000; ++i) {
      sum += x[3 * i + f];
      squares += x[3 * i + f] * x[3 * i + f];
    }
    EXPECT_NEAR(sum / 1000, 0, 1e-13);
    EXPECT_NEAR(squares / 1000, 1, 1e-12);
  }
  EXPECT_EQ(scaling.scale(1), 0.25);
  EXPECT_EQ(x[1], 0);
}

/// The order of the sums is part of the contract: one chain per feature over the samples, ascending.
TEST(Standardising, SumsInTheDocumentedOrder) {
  std::vector<double> values;
  for (int i = 0; i < 5000; ++i) values.push_back(std::ldexp(1.0 + 0.123 * (i % 97), i % 40));
  const MemoryDataset raw(array_from<double>({5000, 1}, values), {1}, {});
  double mean = 0, variance = 0;
  for (const double value : values) mean += value;
  mean /= 5000;
  for (const double value : values) variance = std::fma(value - mean, value - mean, variance);
  const Scaling scaling = standardising(raw, 1);
  EXPECT_EQ(scaling.scale(0), 1.0 / std::sqrt(variance / 5000));
  EXPECT_EQ(scaling.offset(0), -mean * scaling.scale(0));
}

}  // namespace
}  // namespace lockstep
