// Level L2 of the promise with ranks as threads of one process: any number of ranks, each with any number of threads.
// ranks_hash.cpp does it with MPI.

#include <gtest/gtest.h>

#include "tests/parallel/rank_threads.hpp"
#include "tests/promise/networks.hpp"
#include "tests/train/same_state.hpp"

namespace lockstep {
namespace {

class PromiseRanks : public testing::TestWithParam<int> {
 protected:
  PromiseRun run_ = promise_runs()[static_cast<std::size_t>(GetParam())];
};

TEST_P(PromiseRanks, OneHashForRanksAndThreads) {
  const DataSplits data = promise_data(run_);
  run_.options.threads = 1;
  const std::string expected = training_hash(run_, *data.train, *data.test);
  for (const int size : {1, 2, 3, 4, 5, 8, 17})
    for (const int threads : {1, 2, 3}) {
      PromiseRun run = run_;
      run.options.threads = threads;
      run_ranks(size, [&](Ranks& ranks) {
        EXPECT_EQ(training_hash(run, *data.train, *data.test, &ranks), expected)
            << "rank " << ranks.rank() << " of " << size << " with " << threads << " threads";
      });
    }
}

void expect_one_hash_for_ranks(PromiseRun run, const DataSplits& data) {
  run.options.threads = 1;
  const std::string expected = training_hash(run, *data.train, *data.test);
  for (const int size : {2, 3, 5}) {
    run.options.threads = size % 2 + 1;
    run_ranks(size, [&](Ranks& ranks) {
      EXPECT_EQ(training_hash(run, *data.train, *data.test, &ranks), expected) << size << " ranks";
    });
  }
  for (const int stages : {2, 3}) {
    run.options.parallel = {.pipeline = stages};
    run_ranks(2 * stages, [&](Ranks& ranks) {
      const std::string hash = training_hash(run, *data.train, *data.test, &ranks);
      EXPECT_TRUE(!ranks.leader() || hash == expected) << stages << " stages";
    });
  }
}

// The last batch has 8 samples in 8 slots, and one of 3 leaves ranks and threads without any.
TEST(PromiseBatchWide, OneHashForRanksAndThreads) {
  for (const std::int64_t count : {50, 45}) {
    PromiseRun run = batch_wide_run();
    const DataSplits data = promise_data(run, count);
    run.options.threads = 1;
    run.options.backend = Backend::naive;
    const std::string expected = training_hash(run, *data.train, *data.test);
    run.options.backend = Backend::simd;
    for (const int size : {1, 2, 3, 5, 8, 17})
      for (const int threads : {1, 2, 3}) {
        run.options.threads = threads;
        run_ranks(size, [&](Ranks& ranks) {
          EXPECT_EQ(training_hash(run, *data.train, *data.test, &ranks), expected)
              << "rank " << ranks.rank() << " of " << size << " with " << threads << " threads";
        });
      }
  }
}

// With one slot, batch and slot are the same; with several they are not.
TEST(PromiseBatchWide, OneSlotIsTheBatch) {
  const auto weights_of = [](NormOver over, std::int64_t slots) {
    PromiseRun run = averaged_run();
    Network network({1, 4, 4});
    network.add(Conv2d{.out = 5, .kernel = 3, .pad = 1})
        .add(BatchNorm{.over = over})
        .add(Relu{})
        .add(Linear{.out = 10});
    run.network = network;
    run.options.average = {};
    run.options.slots = slots;
    const DataSplits data = promise_data(run);
    Network trained = run.network;
    trained.initialise(7);
    Trainer(trained, run.options).fit(*data.train, {.epochs = 1});
    const float* const weights = std::as_const(trained).data<float>();
    return std::vector<float>(weights, weights + trained.trainable_count());
  };
  EXPECT_EQ(weights_of(NormOver::batch, 1), weights_of(NormOver::slot, 1));
  EXPECT_NE(weights_of(NormOver::batch, 4), weights_of(NormOver::slot, 4));
}

TEST(PromiseBatchWide, PartsOfNetworksAreRefused) {
  PromiseRun run = batch_wide_run();
  run.options.parallel = {.pipeline = 2};
  const DataSplits data = promise_data(run);
  run_ranks(2, [&](Ranks& ranks) {
    try {
      training_hash(run, *data.train, *data.test, &ranks);
      ADD_FAILURE() << "it was not refused";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(),
                   "batch_norm: over = \"batch\" needs whole layers on every rank, and parallel.pipeline is "
                   "2: set it to 1, or over = \"slot\"");
    }
  });
}

TEST(PromiseSequences, OneHashForRanksAndStages) { expect_one_hash_for_ranks(recurrent_run(), sequence_data()); }
TEST(PromiseText, OneHashForRanksAndStages) { expect_one_hash_for_ranks(text_run(), text_data()); }

TEST(PromiseWindows, OneHashForRanksAndStages) { expect_one_hash_for_ranks(windows_run(), text_data(50, false)); }

void expect_one_hash_for_members(PromiseRun run, const DataSplits& data) {
  const std::string expected = training_hash(run, *data.train, *data.test);
  for (const int members : {2, 3})
    for (const int stages : {1, 2}) {
      run.options.parallel = {.tensor = members, .pipeline = stages};
      run.options.threads = members;
      run_ranks(members * stages, [&](Ranks& ranks) {
        const std::string hash = training_hash(run, *data.train, *data.test, &ranks);
        EXPECT_TRUE(!ranks.leader() || hash == expected) << members << " members, " << stages << " stages";
      });
    }
}
TEST(PromiseSequences, OneHashForSplitLayers) { expect_one_hash_for_members(recurrent_run(), sequence_data()); }
TEST(PromiseText, OneHashForSplitLayers) { expect_one_hash_for_members(text_run(), text_data()); }
TEST(PromiseWindows, OneHashForSplitLayers) { expect_one_hash_for_members(windows_run(), text_data(50, false)); }

/// Stopped between two windows of the same sequences, and restored on other ranks, stages, members and threads.
TEST(PromiseWindows, ResumedBetweenTwoWindows) {
  PromiseRun run = windows_run();
  const DataSplits data = text_data(50, false);
  struct Stopped {};
  const auto stopped_state = [&](std::int64_t after, Ranks* ranks) {
    Network network = run.network;
    network.initialise(7);
    Trainer trainer = ranks != nullptr ? Trainer(network, run.options, *ranks) : Trainer(network, run.options);
    TrainingState state;
    FitOptions fit{.epochs = 2, .validation = data.test.get()};
    fit.requests = [&](std::int64_t step) { return StepRequests{.save = step == after}; };
    fit.on_step = [&](const StepReport& step) {
      if (!step.requests.save) return;
      state = trainer.state();
      throw Stopped();
    };
    EXPECT_THROW(trainer.fit(*data.train, fit), Stopped);
    return state;
  };
  const auto last_hash = [&](const TrainingState* from, Ranks* ranks) {
    Network network = run.network;
    network.initialise(7);
    Trainer trainer = ranks != nullptr ? Trainer(network, run.options, *ranks) : Trainer(network, run.options);
    if (from != nullptr) trainer.restore(*from);
    const std::int64_t left = from == nullptr ? 2 : 2 - from->epoch;
    return trainer.fit(*data.train, {.epochs = left, .validation = data.test.get()}).back().weight_hash;
  };
  const std::string expected = last_hash(nullptr, nullptr);
  for (const std::int64_t after : {1, 3, 4, 5, 8, 11}) {  // an epoch has 2 batches of 3 windows
    run.options.parallel = {};
    run.options.threads = 2;
    const TrainingState alone = stopped_state(after, nullptr);
    EXPECT_EQ(std::get<AlignedBuffer<float>>(alone.carried).size() > 0, after % 3 != 0) << after;
    for (const ParallelOptions& parts :
         {ParallelOptions{}, ParallelOptions{.pipeline = 2}, ParallelOptions{.tensor = 2}}) {
      run.options.parallel = parts;
      TrainingState together;
      run_ranks(4, [&](Ranks& ranks) {
        const std::string hash = last_hash(&alone, &ranks);
        EXPECT_TRUE(!ranks.leader() || hash == expected) << after;
        const TrainingState own = stopped_state(after, &ranks);
        if (ranks.leader()) together = own;
      });
      EXPECT_TRUE(same(together.carried, alone.carried)) << after;
      run.options.parallel = {};
      run.options.threads = 3;
      EXPECT_EQ(last_hash(&together, nullptr), expected) << after;
    }
  }
}

/// Windows change what is learned; a single one is the whole sequence.
TEST(PromiseWindows, OneWindowIsTheSequence) {
  PromiseRun run = windows_run();
  const DataSplits data = text_data(50, false);
  const auto with = [&](std::int64_t steps) {
    run.options.truncate = steps;
    return training_hash(run, *data.train, *data.test);
  };
  EXPECT_EQ(with(9), with(0));
  EXPECT_NE(with(3), with(0));
}

// ranks = data x pipeline x tensor; rank 0 has the whole network at the end of every epoch.
TEST_P(PromiseRanks, OneHashForNetworksInParts) {
  const DataSplits data = promise_data(run_);
  run_.options.threads = 1;
  const std::string expected = training_hash(run_, *data.train, *data.test);
  struct Case {
    int members, stages, replicas, threads;
    PipelineSchedule schedule;
  };
  using enum PipelineSchedule;
  for (const Case& c :
       {Case{1, 2, 1, 1, one_forward_one_backward}, Case{1, 2, 1, 3, gpipe}, Case{1, 3, 1, 2, one_forward_one_backward},
        Case{1, 3, 1, 1, gpipe}, Case{1, 2, 2, 2, one_forward_one_backward}, Case{1, 2, 3, 1, gpipe},
        Case{1, 4, 2, 1, one_forward_one_backward}, Case{2, 1, 1, 1, gpipe}, Case{2, 1, 1, 3, gpipe},
        Case{3, 1, 1, 1, gpipe}, Case{2, 1, 2, 2, gpipe}, Case{2, 2, 1, 2, one_forward_one_backward},
        Case{2, 3, 2, 1, gpipe}, Case{11, 1, 1, 1, gpipe}}) {
    PromiseRun run = run_;
    run.options.threads = c.threads;
    run.options.parallel = {.tensor = c.members, .pipeline = c.stages, .schedule = c.schedule};
    run_ranks(c.members * c.stages * c.replicas, [&](Ranks& ranks) {
      const std::string hash = training_hash(run, *data.train, *data.test, &ranks);
      EXPECT_TRUE(!ranks.leader() || hash == expected)
          << c.replicas << " x " << c.stages << " stages x " << c.members << " members, " << c.threads << " threads";
    });
  }
}

TEST_P(PromiseRanks, OneHashGatheredAtRankZero) {
  const DataSplits data = promise_data(run_);
  const std::string expected = training_hash(run_, *data.train, *data.test);
  PromiseRun run = run_;
  run.options.parallel.reduce = RankReduction::gather;
  for (const int size : {2, 3})
    run_ranks(size, [&](Ranks& ranks) { EXPECT_EQ(training_hash(run, *data.train, *data.test, &ranks), expected); });
}

TEST_P(PromiseRanks, GradientsAndStepsToo) {
  const DataSplits data = promise_data(run_);
  run_.options.threads = 1;
  std::vector<std::int64_t> ids = {3, 1, 4, 15, 9, 2, 6, 5, 35, 8, 7, 32, 38, 46, 26};
  Network alone = run_.network;
  alone.initialise(7);
  Trainer serial(alone, run_.options);
  const std::vector<double> gradient = serial.gradient(*data.train, ids);
  const double loss = serial.step(*data.train, ids);
  const Scores scores = serial.evaluate(*data.test);
  for (const int size : {2, 3, 8})
    run_ranks(size, [&](Ranks& ranks) {
      Network network = run_.network;
      network.initialise(7);
      Trainer trainer(network, run_.options, ranks);
      EXPECT_EQ(trainer.gradient(*data.train, ids), gradient);
      EXPECT_EQ(trainer.step(*data.train, ids), loss);
      EXPECT_EQ(weight_hash(network.values()), weight_hash(alone.values()));
      EXPECT_EQ(trainer.evaluate(*data.test).loss, scores.loss);
    });
  for (const ParallelOptions& parts : {ParallelOptions{.pipeline = 3}, ParallelOptions{.tensor = 3}}) {
    run_.options.parallel = parts;
    run_ranks(3, [&](Ranks& ranks) {
      Network network = run_.network;
      network.initialise(7);
      Trainer trainer(network, run_.options, ranks);
      EXPECT_EQ(trainer.gradient(*data.train, ids), ranks.leader() ? gradient : std::vector<double>());
      EXPECT_EQ(trainer.step(*data.train, ids), loss);
      EXPECT_EQ(trainer.evaluate(*data.test).loss, scores.loss);
    });
  }
}

/// Each rank owns a part of the optimiser's state; where it is requested, and after fit, every rank has all of it.
TEST_P(PromiseRanks, StopsTogetherWithItsState) {
  const DataSplits data = promise_data(run_);
  run_.options.threads = 1;
  constexpr std::int64_t kStop = 3;  // in the middle of the second epoch
  TrainingState expected;
  const auto train = [&](const PromiseRun& run, Ranks* ranks, int requester) {
    Network network = run.network;
    network.initialise(7);
    Trainer trainer = ranks != nullptr ? Trainer(network, run.options, *ranks) : Trainer(network, run.options);
    struct Stopped {};
    TrainingState state;
    const auto requests = [&](std::int64_t steps) {
      return StepRequests{.stop = steps == kStop && (ranks == nullptr || ranks->rank() == requester)};
    };
    const auto on_step = [&](const StepReport& report) {
      if (!report.requests.stop) return;
      state = trainer.state();
      throw Stopped{};
    };
    EXPECT_THROW(trainer.fit(*data.train, {.epochs = 2, .requests = requests, .on_step = on_step}), Stopped);
    EXPECT_EQ(state.steps, kStop);
    return state;
  };
  expected = train(run_, nullptr, 0);
  for (const int size : {2, 3, 4, 6, 8})
    run_ranks(size, [&](Ranks& ranks) {
      // Of a network in parts rank 0 alone has everything.
      PromiseRun run = run_;
      if (size == 6) run.options.parallel.pipeline = 3;
      if (size == 8) run.options.parallel = {.tensor = 2, .pipeline = 2};
      const TrainingState state = train(run, &ranks, size - 1);
      if (size >= 6 && !ranks.leader()) return;
      EXPECT_EQ(weight_hash(state.parameters), weight_hash(expected.parameters));
      EXPECT_EQ(weight_hash(state.first), weight_hash(expected.first));
      EXPECT_EQ(weight_hash(state.second), weight_hash(expected.second));
    });
}

INSTANTIATE_TEST_SUITE_P(, PromiseRanks, testing::Range(0, 3), [](const auto& network) {
  return network.param == 0 ? "mlp" : network.param == 1 ? "lenet5" : "bn_cnn";
});

}  // namespace
}  // namespace lockstep
