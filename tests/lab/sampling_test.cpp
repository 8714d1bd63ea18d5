#include "lockstep/lab/sampling.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "lockstep/core/error.hpp"

namespace lockstep {
namespace {

/// A clock that only the variants move.
struct FakeClock {
  double now = 0;
  SamplingRule rule(SamplingRule rest) {
    rest.now_seconds = [this] { return now; };
    return rest;
  }
  SampledVariant variant(const std::string& name, double seconds, std::string* log = nullptr) {
    return {name, [this, name, seconds, log] {
              now += seconds;
              if (log != nullptr) *log += name;
              return seconds;
            }};
  }
};

TEST(Sampling, TakesTurnsAndStopsWhenSettled) {
  FakeClock clock;
  std::string log;
  const auto results = sample_in_turns({clock.variant("a", 1, &log), clock.variant("b", 2, &log)},
                                       clock.rule({.least = 6, .budget_seconds = 1000}));
  EXPECT_EQ(log, "ababababababab");  // one to warm up, six samples
  for (const SampledResult& result : results) {
    EXPECT_TRUE(result.settled());
    EXPECT_EQ(result.samples.size(), 6U);
    EXPECT_EQ(result.warm_up.size(), 1U);
  }
}

TEST(Sampling, GoesOnWhileTheIntervalIsWide) {
  FakeClock clock;
  int calls = 0;
  const SampledVariant noisy{"noisy", [&] {
                               clock.now += 1;
                               return ++calls % 2 == 0 ? 1.0 : 3.0;
                             }};
  const auto results =
      sample_in_turns({noisy, clock.variant("calm", 1)}, clock.rule({.most = 20, .budget_seconds = 1000}));
  EXPECT_EQ(results[0].end, SamplingEnd::most);
  EXPECT_EQ(results[0].samples.size(), 20U);
  EXPECT_EQ(results[1].samples.size(), 6U);
}

TEST(Sampling, DoesNotBeginWhatWouldOutlastTheBudget) {
  FakeClock clock;
  const auto results = sample_in_turns({clock.variant("slow", 4)}, clock.rule({.budget_seconds = 13}));
  EXPECT_EQ(results[0].end, SamplingEnd::budget);
  EXPECT_EQ(results[0].samples.size(), 2U);  // 4 to warm up, 4 and 4: another would end at 16
  EXPECT_LE(clock.now, 13);
}

TEST(Sampling, EveryVariantIsSampledOnceAnyway) {
  FakeClock clock;
  const auto results =
      sample_in_turns({clock.variant("a", 10), clock.variant("b", 10)}, clock.rule({.budget_seconds = 5}));
  EXPECT_EQ(results[0].samples.size(), 1U);
  EXPECT_EQ(results[1].samples.size(), 1U);
}

TEST(Sampling, AFailureEndsOneVariantAlone) {
  FakeClock clock;
  const SampledVariant broken{"broken", []() -> double { throw std::runtime_error("no device"); }};
  const auto results = sample_in_turns({broken, clock.variant("b", 1)}, clock.rule({.budget_seconds = 100}));
  EXPECT_EQ(results[0].end, SamplingEnd::failed);
  EXPECT_EQ(results[0].failure, "no device");
  EXPECT_TRUE(results[1].settled());
}

TEST(Sampling, KeepsWhatWasTakenWhenStopped) {
  FakeClock clock;
  const auto results = sample_in_turns(
      {clock.variant("a", 1)}, clock.rule({.budget_seconds = 1000, .stopped = [&] { return clock.now > 3.5; }}));
  EXPECT_EQ(results[0].end, SamplingEnd::stopped);
  EXPECT_EQ(results[0].samples.size(), 3U);
}

TEST(Sampling, HandsOutWhatThereIsAfterEveryRound) {
  FakeClock clock;
  std::vector<std::size_t> taken;
  const auto count = [&](const std::vector<SampledResult>& so_far) {
    for (const SampledResult& each : so_far) taken.push_back(each.samples.size());
  };
  sample_in_turns({clock.variant("a", 1), clock.variant("b", 1)},
                  clock.rule({.most = 2, .budget_seconds = 1000, .after_round = count}));
  EXPECT_EQ(taken, (std::vector<std::size_t>{1, 1, 2, 2}));
}

TEST(Sampling, SettledNeedsEnoughSamples) {
  const std::vector<double> same(5, 1.0);
  EXPECT_FALSE(is_settled(same, 0.05, 6));
  EXPECT_TRUE(is_settled(same, 0.05, 5));
  EXPECT_FALSE(is_settled(std::vector<double>{1, 1, 1, 1, 1, 1.5}, 0.05, 6));
}

}  // namespace
}  // namespace lockstep
