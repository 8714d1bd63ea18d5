// The published tables, as far as they can be checked against themselves: a slip of the pen in them would be ours.

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/reproduce/conv_multicore/published.hpp"
#include "cli/reproduce/cuda_quadrants/experiment.hpp"
#include "cli/reproduce/cuda_quadrants/published.hpp"
#include "cli/reproduce/mpi_digits/published.hpp"

namespace lockstep::cli {
namespace {

TEST(Published, ConvolutionAveragesFollowFromRuns) {
  using namespace conv_published;
  for (std::size_t i = 0; i < kCores.size(); ++i) {
    const double average = std::accumulate(kSeconds[i].begin(), kSeconds[i].end(), 0.0) / 10;
    // The paper has four digits; two of its averages are off by less than a thousandth.
    EXPECT_NEAR(average, kAverage[i], 1e-3 * kAverage[i]) << kCores[i] << " cores";
  }
}

TEST(Published, ConvolutionSpeedUpsFollowFromAverages) {
  using namespace conv_published;
  const auto average = [](int cores) {
    for (std::size_t i = 0; i < kCores.size(); ++i)
      if (kCores[i] == cores) return kAverage[i];
    return 0.0;
  };
  for (const SpeedUp& each : kSpeedUps)
    EXPECT_NEAR(average(each.from) / average(each.to), each.value, 1.5e-3) << each.from << " to " << each.to;
}

TEST(Published, QuadrantSharesAddUpAsSaid) {
  using namespace quadrants_published;
  double sum = 0;
  for (const Share& each : kShares) sum += each.percent;
  EXPECT_NEAR(sum, 97.71, 1e-9);  // and not the 98.01 of the text
  // Backward is named first, and takes more than forward, in each of the three kinds of layers.
  const auto share = [](const std::string& section) {
    return std::find_if(kShares.begin(), kShares.end(), [&](const Share& each) { return section == each.section; })
        ->percent;
  };
  EXPECT_EQ(share("relu backward"), 7.09);
  EXPECT_EQ(share("sigmoid backward"), 1.03);
  for (const auto& [layer, total] :
       {std::pair{"linear", kLinearTotal}, {"relu", kReluTotal}, {"sigmoid", kSigmoidTotal}}) {
    EXPECT_GT(share(fmt::format("{} backward", layer)), share(fmt::format("{} forward", layer))) << layer;
    EXPECT_NEAR(share(fmt::format("{} backward", layer)) + share(fmt::format("{} forward", layer)), total, 1e-9);
  }
  // The bound that it prints lies between those of the two.
  EXPECT_LT(amdahl_bound(sum / 100, kDeviceCores), kAmdahlBound);
  EXPECT_GT(amdahl_bound(kParallelShare / 100, kDeviceCores), kAmdahlBound);
}

TEST(Published, AmdahlsBoundAtItsEnds) {
  EXPECT_DOUBLE_EQ(amdahl_bound(0, 768), 1);
  EXPECT_DOUBLE_EQ(amdahl_bound(1, 768), 768);
  EXPECT_DOUBLE_EQ(amdahl_bound(0.5, 1), 1);
  EXPECT_NEAR(amdahl_bound(0.5, 1e12), 2, 1e-9);
}

TEST(Published, QuadrantAccuraciesAreSharesOfABatch) {
  for (const double accuracy : quadrants_published::kTestAccuracy)
    EXPECT_NEAR(accuracy * 1024, std::round(accuracy * 1024), 1e-3);
}

TEST(Published, DigitsTotalsFollowFromIterations) {
  using namespace digits_published;
  for (const Listing& each : kListings) {
    EXPECT_GE(each.total, kIterations * each.iteration.low) << each.name;
    EXPECT_LE(each.total, kIterations * each.iteration.high) << each.name;
    // The phases fit into an iteration.
    const double least = each.hidden.low + each.output.low + each.forward.low + each.back.low;
    EXPECT_LE(least, each.iteration.high) << each.name;
  }
  // The printed costs fall from iteration to iteration and end where the summary says.
  EXPECT_TRUE(std::is_sorted(kSequentialCosts.rbegin(), kSequentialCosts.rend()));
  EXPECT_NEAR(kSequentialCosts.front(), kTrainings[0].first_cost, 5e-5);
  EXPECT_NEAR(kSequentialCosts.back(), kTrainings[0].last_cost, 5e-5);
  const auto check = [](const auto& costs, const Training& training) {
    std::vector<double> all(costs.begin.begin(), costs.begin.end());
    all.insert(all.end(), costs.end.begin(), costs.end.end());
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end(), std::less_equal<>()), all.end()) << training.name;
    EXPECT_NEAR(all.front(), training.first_cost, 5e-5) << training.name;
    EXPECT_NEAR(all.back(), training.last_cost, 5e-5) << training.name;
    EXPECT_LT(std::ssize(all), kIterations) << training.name;
  };
  check(kGpuModeCosts, kTrainings[1]);
  check(kParallelCosts, kTrainings[2]);
  for (const Training& each : kTrainings)
    EXPECT_NEAR(each.precision * 5000, std::round(each.precision * 5000), 1e-6) << each.name;
  EXPECT_NEAR(1 - kListings[1].total / kListings[0].total, kClaim, 0.05);
}

}  // namespace
}  // namespace lockstep::cli
