// Averaged weights: what they are, who has them when, and that a training that was stopped ends with the same ones.

#include <gtest/gtest.h>

#include <cmath>

#include "lockstep/core/error.hpp"
#include "lockstep/data/generators.hpp"
#include "lockstep/train/trainer.hpp"
#include "tests/promise/networks.hpp"
#include "tests/train/same_state.hpp"

namespace lockstep {
namespace {

std::vector<float> weights_of(const Network& network) {
  const auto& values = std::get<AlignedBuffer<float>>(network.values());
  return {values.data(), values.data() + values.size()};
}

/// The weights after every step, or every epoch, of a training that averages nothing.
struct Path {
  std::vector<std::vector<float>> steps, epochs;
};

PromiseRun run_with(Averaging average) {
  PromiseRun run = averaged_run();
  run.network.initialise(7);
  run.options.average = average;
  run.options.threads = 1;
  return run;
}

Path path_of(std::int64_t epochs) {
  PromiseRun run = run_with({});
  const DataSplits data = promise_data(run);
  Path path;
  Trainer trainer(run.network, run.options);
  trainer.fit(*data.train, {.epochs = epochs,
                            .on_step = [&](const StepReport&) { path.steps.push_back(weights_of(run.network)); },
                            .on_epoch = [&](const EpochReport&) { path.epochs.push_back(weights_of(run.network)); }});
  return path;
}

std::vector<float> average_of(const std::vector<std::vector<float>>& all, const Averaging& average) {
  std::vector<float> mean(all.front().size());
  for (std::size_t n = 0; n < all.size(); ++n)
    for (std::size_t i = 0; i < mean.size(); ++i)
      mean[i] = std::fma(static_cast<float>(average.share(static_cast<std::int64_t>(n))), all[n][i] - mean[i], mean[i]);
  return mean;
}

TEST(Average, EmaFollowsEveryStep) {
  const Averaging ema{.kind = AverageKind::ema, .decay = 0.7};
  PromiseRun run = run_with(ema);
  const DataSplits data = promise_data(run);
  Trainer(run.network, run.options).fit(*data.train, {.epochs = 3});
  const Path path = path_of(3);
  EXPECT_EQ(weights_of(run.network), average_of(path.steps, ema));
  EXPECT_NE(weights_of(run.network), path.steps.back());
}

TEST(Average, SwaIsTheMeanOfEpochs) {
  const Averaging swa{.kind = AverageKind::swa, .from = 2};
  PromiseRun run = run_with(swa);
  const DataSplits data = promise_data(run);
  std::vector<std::vector<float>> shown;
  Trainer(run.network, run.options).fit(*data.train, {.epochs = 4, .on_epoch = [&](const EpochReport&) {
                                                        shown.push_back(weights_of(run.network));
                                                      }});
  const Path path = path_of(4);
  EXPECT_EQ(shown[0], path.epochs[0]);  // nothing is averaged yet
  EXPECT_EQ(shown[1], path.epochs[1]);  // the average of one
  EXPECT_EQ(shown[3], average_of({path.epochs.begin() + 1, path.epochs.end()}, swa));
  EXPECT_EQ(weights_of(run.network), shown[3]);
}

TEST(Average, ValidationSeesTheAverage) {
  PromiseRun run = run_with({.kind = AverageKind::ema, .decay = 0.7});
  const DataSplits data = promise_data(run);
  Trainer trainer(run.network, run.options);
  const auto reports = trainer.fit(*data.train, {.epochs = 2, .validation = data.test.get()});
  EXPECT_EQ(reports.back().validation->loss, trainer.evaluate(*data.test).loss);
  EXPECT_EQ(reports.back().weight_hash, weight_hash(run.network.values()));
}

TEST(Average, FrozenLayersKeepTheirBits) {
  PromiseRun run = run_with({.kind = AverageKind::ema, .decay = 0.7});
  run.options.frozen = {"0"};
  const std::vector<float> before = weights_of(run.network);
  Trainer(run.network, run.options).fit(*promise_data(run).train, {.epochs = 2});
  const ParameterInfo& frozen = run.network.parameters().front();
  for (std::int64_t i = frozen.offset; i < frozen.offset + frozen.elements(); ++i)
    ASSERT_EQ(weights_of(run.network)[static_cast<std::size_t>(i)], before[static_cast<std::size_t>(i)]);
}

/// Stopped after any step and restored elsewhere, with another number of threads: the same reports and weights.
TEST(Average, GoesOnFromAState) {
  for (const Averaging& average :
       {Averaging{.kind = AverageKind::ema, .decay = 0.7}, Averaging{.kind = AverageKind::swa, .from = 1}}) {
    PromiseRun whole = run_with(average);
    const DataSplits data = promise_data(whole);
    const auto expected =
        Trainer(whole.network, whole.options).fit(*data.train, {.epochs = 3, .validation = data.test.get()});
    for (const std::int64_t stop : {2, 4, 5}) {
      PromiseRun first = run_with(average), second = run_with(average);
      TrainingState state;
      Trainer trainer(first.network, first.options);
      std::int64_t done = 0;
      const auto save = [&](const StepReport&) {
        if (++done == stop) state = trainer.state();
      };
      trainer.fit(*data.train, {.epochs = 3, .on_step = save});
      second.options.threads = 3;
      Trainer resumed(second.network, second.options);
      resumed.restore(state);
      const auto reports = resumed.fit(*data.train, {.epochs = 3 - state.epoch, .validation = data.test.get()});
      EXPECT_EQ(reports.back().weight_hash, expected.back().weight_hash) << stop;
      EXPECT_EQ(reports.back().validation->loss, expected.back().validation->loss) << stop;
    }
  }
}

/// Between fits the network shows the average; the state and the next fit have the weights of the last step.
TEST(Average, TwoFitsAreOne) {
  const Averaging ema{.kind = AverageKind::ema, .decay = 0.7};
  PromiseRun once = run_with(ema), twice = run_with(ema);
  const DataSplits data = promise_data(once);
  Trainer(once.network, once.options).fit(*data.train, {.epochs = 3});
  Trainer trainer(twice.network, twice.options);
  trainer.fit(*data.train, {.epochs = 1});
  const TrainingState between = trainer.state();
  EXPECT_EQ(weight_hash(between.average), weight_hash(twice.network.values()));
  EXPECT_NE(weight_hash(between.parameters), weight_hash(twice.network.values()));
  trainer.fit(*data.train, {.epochs = 2});
  EXPECT_EQ(weight_hash(once.network.values()), weight_hash(twice.network.values()));
  PromiseRun third = run_with(ema);  // a state between fits, in a trainer that has nothing left to do
  Trainer restored(third.network, third.options);
  restored.restore(trainer.state());
  EXPECT_EQ(weight_hash(third.network.values()), weight_hash(once.network.values()));
}

TEST(Average, AStateOfAnAverageNeedsOne) {
  PromiseRun with = run_with({.kind = AverageKind::ema}), without = run_with({});
  Trainer trainer(with.network, with.options), other(without.network, without.options);
  trainer.fit(*promise_data(with).train, {.epochs = 1});
  EXPECT_THROW(other.restore(trainer.state()), Error);
}

}  // namespace
}  // namespace lockstep
