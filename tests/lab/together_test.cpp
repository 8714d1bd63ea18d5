#include "lockstep/lab/together.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace lockstep {
namespace {

TEST(Together, EveryThreadRunsOnce) {
  std::vector<int> runs(5, 0);
  EXPECT_GE(time_together(5, [&](int index) { ++runs[static_cast<std::size_t>(index)]; }), 0);
  EXPECT_EQ(runs, (std::vector{1, 1, 1, 1, 1}));
}

TEST(Together, AllAreThereAtTheSameTime) {
  std::atomic<int> there{0};
  time_together(3, [&](int) {
    ++there;
    while (there < 3) {  // would hang if one thread began after another's end
    }
  });
  EXPECT_EQ(there, 3);
}

TEST(Together, AnExceptionComesBack) {
  const auto body = [](int index) {
    if (index == 1) throw std::runtime_error("no");
  };
  EXPECT_THROW(time_together(2, body), std::runtime_error);
}

TEST(Together, TheBestIsOneOfAtLeastSoManyRuns) {
  int runs = 0;
  EXPECT_GE(best_time_together(1, 7, 0, [&](int) { ++runs; }), 0);
  EXPECT_EQ(runs, 7);
}

}  // namespace
}  // namespace lockstep
