// Levels L1 and L5 of the promise in one process: any number of threads, any backend, any instruction set of this
// machine, however the threads are delayed: one hash per network.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "lockstep/kernels/simd/table.hpp"
#include "lockstep/parallel/team.hpp"
#include "tests/promise/networks.hpp"

namespace lockstep {
namespace {

/// Sets LOCKSTEP_ISA for as long as it lives.
class ForcedIsa {
 public:
  explicit ForcedIsa(Isa isa) { ::setenv("LOCKSTEP_ISA", std::string(isa_name(isa)).c_str(), 1); }
  ~ForcedIsa() { ::unsetenv("LOCKSTEP_ISA"); }
  ForcedIsa(const ForcedIsa&) = delete;
  ForcedIsa& operator=(const ForcedIsa&) = delete;
};

std::string hash_with(PromiseRun run, Backend backend, int threads, const DataSplits& data) {
  run.options.backend = backend;
  run.options.threads = threads;
  return training_hash(run, *data.train, *data.test);
}

void expect_one_hash(const PromiseRun& run, const DataSplits& data, const std::vector<int>& team_sizes) {
  const std::string expected = hash_with(run, Backend::naive, 1, data);
  for (const int threads : team_sizes) EXPECT_EQ(hash_with(run, Backend::naive, threads, data), expected) << threads;
  for (const Isa isa : supported_isas()) {
    const ForcedIsa forced(isa);
    for (const int threads : team_sizes)
      EXPECT_EQ(hash_with(run, Backend::simd, threads, data), expected) << isa_name(isa) << " x " << threads;
  }
}

class Promise : public testing::TestWithParam<int> {
 protected:
  PromiseRun run_ = promise_runs()[static_cast<std::size_t>(GetParam())];
};

TEST_P(Promise, OneHashForThreadsAndBackends) { expect_one_hash(run_, promise_data(run_), {1, 2, 3, 4, 7, 16}); }

/// Otherwise a trainer that does nothing would keep the promise.
TEST_P(Promise, TheHashTellsRunsApart) {
  const DataSplits data = promise_data(run_);
  PromiseRun other = run_;
  other.options.seed = 2;
  EXPECT_NE(hash_with(run_, Backend::simd, 2, data), hash_with(other, Backend::simd, 2, data));
  other = run_;
  other.options.slots *= 2;
  EXPECT_NE(hash_with(run_, Backend::simd, 2, data), hash_with(other, Backend::simd, 2, data));
}

/// In the regions of a program that is parallel itself, a trainer with the default number of threads uses one.
TEST(PromiseDefaults, TrainersInAParallelRegion) {
  const PromiseRun run = mlp_run();
  const DataSplits data = promise_data(run);
  const std::string expected = hash_with(run, Backend::simd, 1, data);
  std::vector<std::string> hashes(2);
  run_team(2, [&](const Member& member) {
    hashes[static_cast<std::size_t>(member.index)] = hash_with(run, Backend::simd, 0, data);
  });
  EXPECT_EQ(hashes, std::vector<std::string>(2, expected));
}

/// Now and then, whoever asks for samples is held up.
class SleepyDataset final : public Dataset {
 public:
  SleepyDataset(const Dataset& base, unsigned seed) : base_(base), seed_(seed) {}

  std::int64_t size() const override { return base_.size(); }
  Shape sample_shape() const override { return base_.sample_shape(); }
  std::int64_t classes() const override { return base_.classes(); }
  std::int64_t target_size() const override { return base_.target_size(); }
  void gather(std::span<const std::int64_t> ids, Matrix<float> x) const override {
    sleep_sometimes();
    base_.gather(ids, x);
  }
  void gather(std::span<const std::int64_t> ids, Matrix<double> x) const override {
    sleep_sometimes();
    base_.gather(ids, x);
  }
  void labels(std::span<const std::int64_t> ids, std::span<std::int32_t> out) const override {
    sleep_sometimes();
    base_.labels(ids, out);
  }
  void targets(std::span<const std::int64_t> ids, Matrix<float> t) const override { base_.targets(ids, t); }
  void targets(std::span<const std::int64_t> ids, Matrix<double> t) const override { base_.targets(ids, t); }
  bool has_weights() const override { return base_.has_weights(); }
  void weights(std::span<const std::int64_t> ids, std::span<double> out) const override { base_.weights(ids, out); }
  std::string describe() const override { return base_.describe(); }

  int sleeps() const { return sleeps_; }

 private:
  void sleep_sometimes() const {
    std::minstd_rand draw(seed_ + 7919U * calls_++);
    draw.discard(3);
    if (draw() % 3 != 0) return;
    ++sleeps_;
    std::this_thread::sleep_for(std::chrono::microseconds(draw() % 4000));
  }

  const Dataset& base_;
  unsigned seed_;
  mutable std::atomic<unsigned> calls_ = 0;
  mutable std::atomic<int> sleeps_ = 0;
};

TEST_P(Promise, RandomSleepChangesNothing) {
  const DataSplits data = promise_data(run_);
  const std::string expected = hash_with(run_, Backend::simd, 1, data);
  for (const unsigned seed : {1U, 2U, 3U}) {
    for (const int threads : {2, 3, 7}) {
      const SleepyDataset train(*data.train, seed), test(*data.test, seed);
      PromiseRun run = run_;
      run.options.threads = threads;
      EXPECT_EQ(training_hash(run, train, test), expected) << threads << " threads, seed " << seed;
      EXPECT_GT(train.sleeps(), 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Promise, testing::Range(0, static_cast<int>(promise_runs().size())),
                         [](const auto& network) {
                           std::string name = promise_runs()[static_cast<std::size_t>(network.param)].name;
                           std::erase(name, '-');
                           return name;
                         });

TEST(PromiseEdges, OneSample) {
  for (PromiseRun& run : promise_runs()) {
    for (const std::int64_t slots : {1, 8}) {
      run.options.slots = slots;
      expect_one_hash(run, promise_data(run, 1), {2, 16});
    }
  }
}

TEST(PromiseEdges, SingleSamplesAsBatches) {
  PromiseRun run = mlp_run();
  run.options.batch = 1;
  run.options.slots = 0;
  expect_one_hash(run, promise_data(run, 5), {2, 7});
}

/// 19 samples in batches of 16 and 32 slots: half of the slots of the first batch are empty, nearly all of the second.
TEST(PromiseEdges, EmptySlots) {
  for (PromiseRun& run : promise_runs()) {
    run.options.batch = 16;
    run.options.slots = 32;
    expect_one_hash(run, promise_data(run, 19), {2, 3, 16});
  }
}

/// Recurrent layers over sequences that end at different steps.
TEST(PromiseSequences, OneHashForThreadsAndBackends) {
  expect_one_hash(recurrent_run(), sequence_data(), {1, 2, 3, 4, 7, 16});
  PromiseRun run = recurrent_run(Precision::float64);
  run.options.batch = 16;
  run.options.slots = 32;
  expect_one_hash(run, sequence_data(19), {2, 3});
}

/// Tokens with a class for every step, through embedding, attention and layers of every step.
TEST(PromiseText, OneHashForThreadsAndBackends) {
  expect_one_hash(text_run(), text_data(), {1, 2, 3, 4, 7, 16});
  PromiseRun run = text_run(Precision::float64);
  run.options.batch = 16;
  run.options.slots = 32;
  expect_one_hash(run, text_data(19), {2, 3});
}

/// Sequences in windows, whose states are carried on.
TEST(PromiseWindows, OneHashForThreadsAndBackends) {
  expect_one_hash(windows_run(), text_data(50, false), {1, 2, 3, 4, 7, 16});
  PromiseRun run = windows_run(Precision::float64);
  run.options.batch = 16;
  run.options.slots = 32;
  expect_one_hash(run, text_data(19, false), {2, 3});
}

/// What stands behind the end of a sequence changes nothing, and where it ends does.
TEST(PromiseSequences, LengthsCount) {
  const DataSplits data = sequence_data();
  const auto hash_of = [&](const Dataset& train) { return training_hash(recurrent_run(), train, *data.test); };
  const std::string expected = hash_of(*data.train);
  const auto with = [&](double behind, std::int64_t longer) {
    Samples samples = make_blobs({.count = 50, .noise = 5, .classes = 10, .features = 7 * 5});
    std::vector<std::int64_t> lengths;
    for (std::int64_t i = 0; i < 50; ++i) lengths.push_back(std::min<std::int64_t>(5, 1 + i * i % 5 + longer));
    const auto numbers = samples.features.as<double>();
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (std::int64_t(i % 5) >= lengths[i / 35]) numbers[i] = behind;
    return MemoryDataset(std::move(samples.features), {7, 5}, std::move(samples.targets), "sequences", std::nullopt,
                         std::nullopt, false, lengths)
        .scaled(Scaling(0.1));
  };
  EXPECT_EQ(hash_of(*with(0, 0)), expected);
  EXPECT_EQ(hash_of(*with(std::numeric_limits<double>::quiet_NaN(), 0)), expected);
  EXPECT_NE(hash_of(*with(0, 1)), expected);
}

/// More threads than slots, than blocks of parameters, than samples and than processors.
TEST(PromiseEdges, OneToSixtyFourThreads) {
  const PromiseRun run = mlp_run();
  const DataSplits data = promise_data(run);
  const std::string expected = hash_with(run, Backend::naive, 1, data);
  for (int threads = 1; threads <= 64; ++threads)
    EXPECT_EQ(hash_with(run, Backend::simd, threads, data), expected) << threads;
}

}  // namespace
}  // namespace lockstep
