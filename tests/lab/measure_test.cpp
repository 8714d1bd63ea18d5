#include "lockstep/lab/measure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace lockstep {
namespace {

std::function<void()> busy(std::string& log, char name, std::chrono::microseconds time) {
  return [&log, name, time] {
    log += name;
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
  };
}

TEST(Measure, TakesTurns) {
  std::string log;
  const TimedBody bodies[] = {timed(busy(log, 'a', std::chrono::microseconds(200))),
                              timed(busy(log, 'b', std::chrono::microseconds(200)))};
  const auto samples = measure_in_turns(bodies, {.seconds = 100, .sample_seconds = 1e-9, .least = 4, .most = 4});
  // Two calls each to warm up, then one after the other.
  EXPECT_EQ(log, "aabbabababab");
  ASSERT_EQ(samples.size(), 2U);
  for (const auto& own : samples) {
    ASSERT_EQ(own.size(), 4U);
    for (const double seconds : own) EXPECT_GE(seconds, 200e-6);
  }
}

TEST(Measure, ALongBodyRunsOnce) {
  std::string log;
  const TimedBody bodies[] = {timed(busy(log, 'a', std::chrono::microseconds(2000))), timed([&log] { log += 'b'; })};
  const auto samples = measure_in_turns(bodies, {.seconds = 1e-3, .sample_seconds = 1e-9, .least = 3, .most = 5});
  EXPECT_EQ(samples[0].size(), 1U);
  EXPECT_EQ(std::count(log.begin(), log.end(), 'a'), 1);
  EXPECT_GE(samples[0][0], 2000e-6);
}

TEST(Measure, ShortBodiesAreCalledOften) {
  std::int64_t calls = 0;
  const TimedBody bodies[] = {timed([&calls] { ++calls; })};
  const auto samples = measure_in_turns(bodies, {.seconds = 0.01, .sample_seconds = 1e-3, .least = 2, .most = 3});
  EXPECT_GE(samples[0].size(), 1U);
  EXPECT_GT(calls, 100);
  for (const double seconds : samples[0]) EXPECT_LT(seconds, 1e-3);
}

TEST(Measure, AnotherClock) {
  const TimedBody bodies[] = {[](std::int64_t calls) { return calls > 0 ? 0.25 : 0; }};
  const auto samples = measure_in_turns(bodies, {.seconds = 1, .sample_seconds = 1e-3, .least = 2, .most = 8});
  EXPECT_EQ(samples[0], std::vector<double>(4, 0.25));
}

TEST(Measure, NothingToDo) { EXPECT_TRUE(measure_in_turns({}).empty()); }

}  // namespace
}  // namespace lockstep
