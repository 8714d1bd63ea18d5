// A run through the library alone: train, stop, resume, and what the observer hears.
#include "lockstep/run/train_run.hpp"

#include <csignal>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/model/model_file.hpp"
#include "lockstep/run/rank_session.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

constexpr const char* kConfig = R"([data]
source = "moons"
count = 200
noise = 0.1
split = {train = 0.8, validation = 0.2}

[model]
input = [2]
layers = [{linear = 16}, "tanh", {linear = 2}]

[train]
batch = 20
loss = "cross-entropy"
epochs = 5
seed = 3
)";

class TrainRunTest : public ::testing::Test {
 protected:
  TrainRunTest() { std::ofstream(config_) << kConfig; }

  std::string out(const char* name) const { return (folder_ / name).string(); }
  static ErrorCode code_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::done;
  }

  TemporaryFolder folder_{};
  std::string config_ = (folder_ / "moons.toml").string();
};

/// Counts what it hears.
struct Counts final : RunObserver {
  int notes = 0, begun = 0, steps = 0, epochs = 0, done_calls = 0;
  std::string hash{};

  void note(const std::string&) override { ++notes; }
  void begin(std::int64_t samples, std::int64_t all) override {
    ++begun;
    EXPECT_EQ(samples, 160);
    EXPECT_EQ(all, 5);
  }
  void step(const StepReport&) override { ++steps; }
  void epoch(const EpochReport&) override { ++epochs; }
  void done(const RunResult& result) override {
    ++done_calls;
    hash = result.weight_hash;
  }
};

TEST_F(TrainRunTest, StoppedAndResumedHasTheSameHash) {
  const RunResult whole = train_run(config_, {.out = out("whole"), .threads = 2});
  int asked = 0;
  EXPECT_EQ(
      code_of([&] { train_run(config_, {.out = out("parts"), .threads = 1, .stop = [&] { return ++asked == 13; }}); }),
      ErrorCode::preempted);
  EXPECT_EQ(asked, 13);
  const RunResult resumed = train_run(config_, {.out = out("parts"), .resume = true, .threads = 3});
  EXPECT_EQ(resumed.resumed_step, 13);
  EXPECT_EQ(resumed.weight_hash, whole.weight_hash);
  for (const char* file : {"metrics.jsonl", "model.safetensors", "config.toml"})
    EXPECT_EQ(read_text(whole.directory / file, 1 << 20), read_text(resumed.directory / file, 1 << 20)) << file;
}

TEST_F(TrainRunTest, ObserverHearsEveryStepAndTheResult) {
  Counts counts;
  const RunResult result = train_run(config_, {.out = out("run"), .threads = 1, .observer = &counts});
  EXPECT_GT(counts.notes, 0);
  EXPECT_EQ(counts.begun, 1);
  EXPECT_EQ(counts.steps, 40);
  EXPECT_EQ(counts.epochs, 5);
  EXPECT_EQ(counts.done_calls, 1);
  EXPECT_EQ(counts.hash, result.weight_hash);
  EXPECT_EQ(result.weight_hash,
            weight_hash(load_model((result.directory / "model.safetensors").string()).network.values()));
}

TEST_F(TrainRunTest, OneSessionServesSeveralRuns) {
  RankSession session([](const std::string&) {});
  EXPECT_EQ(session.ranks().size(), 1);
  const RunResult first = train_run(config_, {.out = out("first"), .threads = 1, .session = &session});
  EXPECT_EQ(code_of([&] { train_run(out("missing.toml"), {.session = &session}); }), ErrorCode::usage);
  const RunResult second = train_run(config_, {.out = out("second"), .threads = 2, .session = &session});
  EXPECT_EQ(first.weight_hash, second.weight_hash);
}

TEST_F(TrainRunTest, ChangesOfTheConfigurationApply) {
  const RunResult result = train_run(config_, {.set = {"train.epochs=1"}, .out = out("run"), .threads = 1});
  EXPECT_EQ(result.config.epochs, 1);
  ASSERT_TRUE(result.last);
  EXPECT_EQ(result.last->epoch, 1);
}

TEST_F(TrainRunTest, FailuresAreErrors) {
  EXPECT_EQ(code_of([&] { train_run(config_, {.resume = true}); }), ErrorCode::usage);
  EXPECT_EQ(code_of([&] { train_run(out("missing.toml")); }), ErrorCode::usage);
  EXPECT_EQ(
      code_of([&] { train_run(config_, {.set = {"train.optimizer={name=\"sgd\",lr=3e38}"}, .out = out("far")}); }),
      ErrorCode::diverged);
  EXPECT_EQ(code_of([&] { train_run(config_, {.out = out("far")}); }), ErrorCode::usage);  // an earlier run
}

TEST_F(TrainRunTest, PrintsNothingAndLeavesSignalsAlone) {
  constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};
  struct sigaction before[std::size(kSignals)]{};
  for (std::size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], nullptr, &before[i]);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  train_run(config_, {.out = out("run"), .threads = 2, .verbose = true});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction after {};
    sigaction(kSignals[i], nullptr, &after);
    EXPECT_EQ(after.sa_handler, before[i].sa_handler) << "signal " << kSignals[i];
  }
}

}  // namespace
}  // namespace lockstep
