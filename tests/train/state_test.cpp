#include <cmath>
#include <cstring>
#include <functional>

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/generators.hpp"
#include "lockstep/data/source.hpp"
#include "lockstep/train/trainer.hpp"
#include "tests/train/same_state.hpp"

namespace lockstep {
namespace {

constexpr std::int64_t kEpochs = 3;

struct Data {
  DataSplits splits = load_data({.source = "moons", .split = {.validation = 24}, .count = 123});
};

struct Case {
  const char* name;
  OptimizerSpec optimizer;
  Precision precision = Precision::float32;
  Schedule schedule{};
};

TrainOptions options_of(const Case& c, int threads = 1, Backend backend = Backend::simd) {
  return {.loss = Loss::cross_entropy,
          .optimizer = c.optimizer,
          .schedule = c.schedule,
          .batch = 16,  // 99 samples: the last batch of an epoch is shorter
          .slots = 4,
          .l2 = 0.01,
          .clip_norm = 1,
          .backend = backend,
          .threads = threads};
}

/// Every layer that has a state of its own, or draws random numbers.
Network network_of(const Case& c) {
  Network network({2}, c.precision);
  network.add(Linear{.out = 5}).add(BatchNorm{}).add(Tanh{}).add(Dropout{.p = 0.2}).add(Linear{.out = 2});
  return network;
}

void expect_same(const EpochReport& a, const EpochReport& b) {
  EXPECT_EQ(a.epoch, b.epoch);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.rate, b.rate);
  EXPECT_EQ(a.train.samples, b.train.samples);
  EXPECT_EQ(a.train.loss, b.train.loss);
  EXPECT_EQ(a.train.correct, b.train.correct);
  ASSERT_TRUE(a.validation && b.validation);
  EXPECT_EQ(a.validation->loss, b.validation->loss);
  EXPECT_EQ(a.penalty, b.penalty);
  EXPECT_EQ(a.weight_hash, b.weight_hash);
}

/// An uninterrupted training: its reports, its last state, and the state after every step and every epoch.
struct Whole {
  std::vector<EpochReport> reports;
  std::vector<TrainingState> states;
  TrainingState last;
};

Whole train_whole(const Case& c, const Data& data, int threads) {
  Whole whole;
  Network network = network_of(c);
  Trainer trainer(network, options_of(c, threads));
  whole.reports = trainer.fit(*data.splits.train,
                              {.epochs = kEpochs,
                               .validation = data.splits.validation.get(),
                               .on_step = [&](const StepReport&) { whole.states.push_back(trainer.state()); },
                               .on_epoch = [&](const EpochReport&) { whole.states.push_back(trainer.state()); }});
  whole.last = trainer.state();
  return whole;
}

class TrainingStates : public testing::TestWithParam<Case> {};

TEST_P(TrainingStates, GoOnFromAnyStep) {
  const Data data;
  const Case& c = GetParam();
  const Whole whole = train_whole(c, data, 2);
  ASSERT_EQ(whole.states.size(), std::size_t(kEpochs * 8));
  int threads = 1;
  for (const TrainingState& state : whole.states) {
    SCOPED_TRACE(testing::Message() << "from epoch " << state.epoch << ", batch " << state.batch << " on " << threads);
    Network network = network_of(c);
    network.initialise(99);
    Trainer trainer(network, options_of(c, threads, state.steps % 3 == 0 ? Backend::naive : Backend::simd));
    trainer.restore(state);
    expect_same(trainer.state(), state);
    const auto reports =
        trainer.fit(*data.splits.train, {.epochs = kEpochs - state.epoch, .validation = data.splits.validation.get()});
    expect_same(trainer.state(), whole.last);
    ASSERT_EQ(reports.size(), std::size_t(kEpochs - state.epoch));
    for (std::size_t i = 0; i < reports.size(); ++i)
      expect_same(reports[i], whole.reports[static_cast<std::size_t>(state.epoch) + i]);
    threads = threads % 4 + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(
    , TrainingStates,
    testing::Values(Case{"sgd", Sgd{}}, Case{"momentum", Momentum{}},
                    Case{"nesterov_float64", Nesterov{}, Precision::float64},
                    Case{"adam", Adam{}, Precision::float32, {.kind = ScheduleKind::cosine, .warmup_steps = 5}},
                    Case{"adam_float64", Adam{}, Precision::float64}, Case{"adamw", AdamW{}},
                    Case{"lion", Lion{.weight_decay = 0.1}},
                    Case{"rmsprop", RmsProp{}, Precision::float32, {.kind = ScheduleKind::step, .every = 1}}),
    [](const auto& tested) { return std::string(tested.param.name); });

struct Stop {};

TEST(TrainingState, SurvivesACallbackThatThrows) {
  const Data data;
  const Case c{"adam", Adam{}};
  const Whole whole = train_whole(c, data, 1);
  for (const int threads : {1, 3}) {
    Network network = network_of(c);
    Trainer trainer(network, options_of(c, threads));
    const auto stop = [](const StepReport& report) {
      if (report.epoch == 2 && report.step == 3) throw Stop{};
    };
    EXPECT_THROW(trainer.fit(*data.splits.train,
                             {.epochs = kEpochs, .validation = data.splits.validation.get(), .on_step = stop}),
                 Stop);
    expect_same(trainer.state(), whole.states[8 + 2]);
    const auto rest =
        trainer.fit(*data.splits.train, {.epochs = kEpochs - 1, .validation = data.splits.validation.get()});
    expect_same(rest.at(0), whole.reports[1]);
    expect_same(trainer.state(), whole.last);
  }
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::checkpoint);
    return error.what();
  }
  return "accepted";
}

TEST(TrainingState, OfAnotherTrainingIsRefused) {
  const Data data;
  const Case c{"adam", Adam{}};
  Network network = network_of(c);
  Trainer trainer(network, options_of(c));
  const TrainingState before = trainer.state();
  const auto expect_refused = [&](const Case& other, const std::string& word) {
    Network another = network_of(other);
    const std::string message = refusal([&] { trainer.restore(Trainer(another, options_of(other)).state()); });
    EXPECT_NE(message.find(word), std::string::npos) << message;
    expect_same(trainer.state(), before);
  };
  expect_refused({"precision", Adam{}, Precision::float64}, "parameters are 47 numbers of 8 bytes, 47 of 4");
  expect_refused({"sgd", Sgd{}}, "optimizer's first vector are 0 numbers");
  expect_refused({"rmsprop", RmsProp{}}, "optimizer's second vector are 0 numbers");
  TrainingState state = before;
  state.batch = 3;
  EXPECT_NE(refusal([&] { trainer.restore(state); }).find("is no place"), std::string::npos);
  state.steps = state.batch = 8;  // an epoch of 99 samples has 7
  trainer.restore(state);
  EXPECT_NE(refusal([&] { trainer.fit(*data.splits.train, {}); }).find("after batch 8 of an epoch that has 7"),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep
