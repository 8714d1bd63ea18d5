// What limits a result: words that follow from measured numbers.

#include "cli/bench/limits.hpp"

#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

/// Two processors of 10 GB/s and 100 GFLOP/s each, a cache of 10 MB, chains of 1 ns.
PrimitiveLimits machine() {
  PrimitiveLimits limits{.cpus = 2, .cache_bytes = 10'000'000, .chain_seconds = 1e-9};
  limits.on_threads = {{1, {.bandwidth = 1e10, .peak = 1e11, .team_seconds = 1e-8}},
                       {2, {.bandwidth = 2e10, .peak = 2e11, .team_seconds = 1e-5}},
                       {4, {.bandwidth = 2e10, .peak = 2e11, .team_seconds = 1e-4}}};
  return limits;
}

PrimitiveSubject stream(double bytes, int threads = 1) {
  return {.kind = PrimitiveKind::simd,
          .threads = threads,
          .cost = {.flops = bytes / 12, .bytes = bytes},
          .steps = bytes / 12};
}

PrimitiveSubject product(PrimitiveKind kind) {
  return {.kind = kind, .cost = {.flops = 2e8, .bytes = 1e6}, .steps = 1e8};
}

bool begins(const std::string& text, const std::string& with) { return text.starts_with(with); }

TEST(WhatLimits, MemoryCacheOrInstructions) {
  EXPECT_TRUE(begins(what_limits(stream(2e7), 2.5e-3, 1, machine()), "bandwidth of memory: 8.0 of 10.0 GB/s (80 %)"));
  EXPECT_TRUE(begins(what_limits(stream(5e6), 2e-4, 1, machine()), "bandwidth of the cache: 25.0 GB/s, 2.5 times"));
  EXPECT_TRUE(begins(what_limits(stream(5e6), 5e-3, 1, machine()), "instructions, not memory: 12 ns per element"));
}

TEST(WhatLimits, ArithmeticOrWaiting) {
  EXPECT_TRUE(begins(what_limits(product(PrimitiveKind::simd), 2.5e-3, 1, machine()),
                     "arithmetic: 80 of the 100 GFLOP/s of its processors (80 %)"));
  EXPECT_TRUE(
      begins(what_limits(product(PrimitiveKind::trivial), 0.1, 0.1, machine()), "latency: 1 ns per multiply-add"));
  EXPECT_TRUE(
      begins(what_limits(product(PrimitiveKind::simd), 0.1, 1, machine()), "neither arithmetic (2 % of the peak)"));
  // A peak that was measured while something else ran is no peak.
  EXPECT_NE(what_limits(product(PrimitiveKind::simd), 1e-3, 1, machine()).find("something else ran"),
            std::string::npos);
}

TEST(WhatLimits, StartingThreads) {
  EXPECT_TRUE(begins(what_limits(stream(1e5, 2), 2e-5, 1, machine()),
                     "launch: to start 2 threads and wait for them takes 10 us"));
  EXPECT_TRUE(begins(what_limits(stream(1e7, 4), 2e-4, 1, machine()), "4 threads take turns on 2 processors; launch"));
}

TEST(WhatLimits, TheInterpreter) {
  EXPECT_EQ(what_limits(product(PrimitiveKind::python), 10, 0.1, machine()),
            "interpreter overhead: 100 ns per step, the compiled loop takes 1 ns");
}

TEST(WhatLimits, OneBlockLeavesUnitsIdle) {
  PrimitiveLimits limits = machine();
  limits.launch_seconds = 1e-5;
  limits.device_units = 2;
  limits.device_is_cpu = true;
  PrimitiveSubject subject = product(PrimitiveKind::device);
  subject.blocks = 1;
  EXPECT_TRUE(begins(what_limits(subject, 0.2, 0.1, limits), "idle units: 1 block on 2 units"));
  subject.blocks = 100;
  EXPECT_TRUE(begins(what_limits(subject, 2e-5, 0.1, limits), "launch: an empty kernel takes 10 us of its 20 us"));
  EXPECT_TRUE(begins(what_limits(subject, 0.05, 0.1, limits), "latency: 1 ns per multiply-add on each of 2 units"));
}

}  // namespace
}  // namespace lockstep::cli
