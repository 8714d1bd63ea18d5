// Weights that are not finite while the loss is: every way of sharing the work must see them at the same step.
#include <limits>

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/source.hpp"
#include "lockstep/model/model_file.hpp"
#include "lockstep/train/trainer.hpp"
#include "tests/parallel/rank_threads.hpp"

namespace lockstep {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Its first unit has the bias -infinity, so ReLU gives 0 for it: loss and gradients never show it.
Network hiding_network(float bias = -kInfinity) {
  Network network({2});
  network.add(Linear{.out = 6}).add(Relu{}).add(Linear{.out = 4}).add(Relu{}).add(Linear{.out = 2});
  network.data<float>()[12] = bias;
  return network;
}

DataSplits points() { return load_data({.source = "moons", .count = 64}); }

TrainOptions options_of(const ParallelOptions& parallel, int threads) {
  return {.optimizer = Sgd{.lr = 0.1}, .batch = 16, .slots = 4, .parallel = parallel, .threads = threads};
}

std::string failure_of(Trainer& trainer, const Dataset& data, const FitOptions& fit) {
  try {
    trainer.fit(data, fit);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::diverged) << error.what();
    return error.what();
  }
  return "none";
}

constexpr const char* kAtEnd =
    "training diverged: the weights are not finite numbers at epoch 1, step 4; lower "
    "train.optimizer.lr or set train.clip_norm";

TEST(Divergence, HiddenByReluIsSeenAtTheEndOfTheEpoch) {
  const DataSplits data = points();
  for (const int threads : {1, 3}) {
    Network network = hiding_network();
    Trainer trainer(network, options_of({}, threads));
    int epochs = 0;
    EXPECT_EQ(failure_of(trainer, *data.train, {.epochs = 2, .on_epoch = [&](const EpochReport&) { ++epochs; }}),
              kAtEnd);
    EXPECT_EQ(epochs, 0) << "an epoch of such weights was reported";
    EXPECT_THROW(write_model(network), Error);
  }
  Network good = hiding_network(-100);
  Trainer trainer(good, options_of({}, 2));
  EXPECT_EQ(failure_of(trainer, *data.train, {.epochs = 2}), "none");
}

TEST(Divergence, IsSeenByAllRanksAtTheSameStep) {
  const DataSplits data = points();
  for (const ParallelOptions& parallel :
       {ParallelOptions{}, ParallelOptions{.tensor = 2}, ParallelOptions{.pipeline = 2},
        ParallelOptions{.tensor = 2, .pipeline = 2}, ParallelOptions{.reduce = RankReduction::gather}}) {
    std::vector<std::string> failures(4);
    run_ranks(4, [&](Ranks& ranks) {
      Network network = hiding_network();
      Trainer trainer(network, options_of(parallel, 1), ranks);
      failures[static_cast<std::size_t>(ranks.rank())] = failure_of(trainer, *data.train, {.epochs = 2});
    });
    EXPECT_EQ(failures, std::vector<std::string>(4, kAtEnd)) << parallel.tensor << " x " << parallel.pipeline;
  }
}

// Before a state is saved, or a model where training is stopped, the weights are looked at.
TEST(Divergence, IsSeenWhereAStateIsRequested) {
  const DataSplits data = points();
  std::vector<std::string> failures(2);
  run_ranks(2, [&](Ranks& ranks) {
    Network network = hiding_network();
    Trainer trainer(network, options_of({.pipeline = 2}, 1), ranks);
    const FitOptions fit{.epochs = 2, .requests = [&](std::int64_t steps) {
                           return StepRequests{.save = ranks.leader() && steps == 2};
                         }};
    failures[static_cast<std::size_t>(ranks.rank())] = failure_of(trainer, *data.train, fit);
  });
  for (const std::string& failure : failures)
    EXPECT_NE(failure.find("at epoch 1, step 2"), std::string::npos) << failure;
}

TEST(Divergence, TheFirstLossIsKept) {
  const DataSplits data = points();
  Network network = hiding_network(0.5F), other = network;
  Trainer whole(network, options_of({}, 2));
  const double first = whole.fit(*data.train, {.epochs = 1}).front().first_loss.value();
  const TrainingState state = whole.state();
  EXPECT_EQ(state.first_loss, first);
  Trainer resumed(other, options_of({}, 1));
  resumed.restore(state);
  EXPECT_EQ(resumed.fit(*data.train, {.epochs = 1}).front().first_loss, first);
  EXPECT_EQ(whole.fit(*data.train, {.epochs = 1}).front().first_loss, first);
}

}  // namespace
}  // namespace lockstep
