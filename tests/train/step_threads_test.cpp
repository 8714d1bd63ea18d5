// How many threads take part in a step: no more than make it shorter, and the bits are those of one thread.
#include <cstdlib>
#include <stdexcept>

#include <gtest/gtest.h>

#include "lockstep/data/source.hpp"
#include "lockstep/train/slot_chunks.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {
namespace {

constexpr double kMeeting = 5e-6;

TEST(ThreadsWorthSharing, NeverMoreThanThereAreParts) {
  EXPECT_EQ(threads_worth_sharing(8, 1, kMuchWork, kMeeting), 1);
  EXPECT_EQ(threads_worth_sharing(8, 2, kMuchWork, kMeeting), 2);
  EXPECT_EQ(threads_worth_sharing(2, 64, kMuchWork, kMeeting), 2);
  EXPECT_EQ(threads_worth_sharing(8, 0, kMuchWork, kMeeting), 1);
}

TEST(ThreadsWorthSharing, FewerWhereMoreAreNotFaster) {
  EXPECT_EQ(threads_worth_sharing(8, 8, Cost{.flops = 1e4}, kMeeting), 1) << "shorter than meeting";
  EXPECT_EQ(threads_worth_sharing(8, 8, Cost{.flops = 1e9}, kMeeting), 8);
  EXPECT_EQ(threads_worth_sharing(3, 4, kMuchWork, kMeeting), 2) << "of three threads one would have two slots as well";
}

/// The steps of other tests are taken by all threads; these decide for themselves.
class StepThreads : public testing::Test {
 protected:
  void SetUp() override { ::unsetenv("LOCKSTEP_STEP_THREADS"); }
  void TearDown() override { ::setenv("LOCKSTEP_STEP_THREADS", "all", 1); }

  static Network network(std::int64_t width) {
    Network network({2});
    network.add(Linear{.out = width}).add(Relu{}).add(Linear{.out = width}).add(Relu{}).add(Linear{.out = 2});
    return network;
  }
  static TrainOptions options(std::int64_t batch, int threads) {
    return {.optimizer = Sgd{.lr = 0.1}, .batch = batch, .threads = threads};
  }

  const DataSplits data_ = load_data({.source = "moons", .count = 512});
};

TEST_F(StepThreads, FollowFromSlotsAndWork) {
  Network wide = network(256), narrow = network(4);
  EXPECT_EQ(Trainer(wide, options(512, 4)).step_threads(*data_.train), 4);
  EXPECT_EQ(Trainer(wide, options(16, 4)).step_threads(*data_.train), 1) << "one slot";
  EXPECT_EQ(Trainer(wide, options(32, 4)).step_threads(*data_.train), 2) << "two slots";
  EXPECT_EQ(Trainer(narrow, options(64, 4)).step_threads(*data_.train), 1) << "too little work";
  ::setenv("LOCKSTEP_STEP_THREADS", "all", 1);
  EXPECT_EQ(Trainer(narrow, options(16, 4)).step_threads(*data_.train), 4);
}

TEST_F(StepThreads, AnyNumberGivesTheBitsOfOne) {
  for (const std::int64_t width : {4, 256})
    for (const std::int64_t batch : {16, 32, 100, 512}) {
      std::vector<std::string> hashes;
      std::vector<Scores> scores;
      for (const int threads : {1, 2, 3, 5}) {
        Network trained = network(width);
        Trainer trainer(trained, options(batch, threads));
        const auto reports = trainer.fit(*data_.train, {.epochs = 2, .validation = data_.train.get()});
        hashes.push_back(reports.back().weight_hash);
        scores.push_back(reports.back().validation.value());
      }
      for (std::size_t i = 1; i < hashes.size(); ++i) {
        EXPECT_EQ(hashes[i], hashes[0]) << "width " << width << ", batch " << batch;
        EXPECT_EQ(scores[i].loss, scores[0].loss);
        EXPECT_EQ(scores[i].correct, scores[0].correct);
      }
    }
}

/// Members that take no steps wait at the end of the epoch: an exception of those that do must reach the caller.
TEST_F(StepThreads, AFailingStepEndsTheFit) {
  for (const std::int64_t batch : {16, 32}) {
    Network trained = network(256);
    Trainer trainer(trained, options(batch, 4));
    const auto fail = [](const StepReport&) { throw std::runtime_error("on_step"); };
    EXPECT_THROW(trainer.fit(*data_.train, {.epochs = 2, .validation = data_.train.get(), .on_step = fail}),
                 std::runtime_error);
  }
}

}  // namespace
}  // namespace lockstep
