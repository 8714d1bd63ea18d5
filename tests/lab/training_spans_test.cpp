// The spans that training leaves: complete, with the right work, and without any influence on the result.

#include <gtest/gtest.h>

#include <map>

#include "lockstep/data/source.hpp"
#include "lockstep/lab/profile.hpp"
#include "lockstep/nn/sequence.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {
namespace {

DataSplits image_data() {
  return load_data(
      {.source = "blobs", .shape = {1, 8, 8}, .count = 200, .test_count = 70, .classes = 4, .features = 64});
}

Network with_residual() {
  Network net({1, 8, 8});
  net.add(Conv2d{.out = 4, .kernel = 3, .pad = 1}).add(BatchNorm{}).add(Relu{}).add(MaxPool2d{.window = 2});
  net.add(Residual{.body = {Conv2d{.out = 4, .kernel = 3, .pad = 1}, Gelu{}}, .shortcut = {Conv2d{.out = 4}}});
  net.add(Flatten{}).add(Dropout{.p = 0.25}).add(Linear{.out = 4}).add(Softmax{});
  net.initialise(7);
  return net;
}

TrainOptions options(int threads) {
  return {.optimizer = Adam{}, .batch = 64, .slots = 4, .clip_norm = 0.5, .seed = 3, .threads = threads};
}

std::string train(int threads, Profile* profile, std::int64_t epochs = 2) {
  const DataSplits data = image_data();
  Network net = with_residual();
  Trainer trainer(net, options(threads));
  return trainer.fit(*data.train, {.epochs = epochs, .validation = data.test.get(), .profile = profile})
      .back()
      .weight_hash;
}

TEST(TrainingSpans, DoNotChangeTheResult) {
  const std::string hash = train(1, nullptr);
  for (const int threads : {1, 2, 3}) {
    Profile profile;
    EXPECT_EQ(train(threads, &profile), hash);
    EXPECT_EQ(profile.threads(), threads);
  }
}

TEST(TrainingSpans, AccountForTheTimeOfEveryThread) {
  for (const int threads : {1, 3}) {
    Profile profile;
    train(threads, &profile, 5);
    for (int thread = 0; thread < threads; ++thread) {
      const double wall = double(profile.wall_ns[static_cast<std::size_t>(thread)]);
      const double spans = double(profile.recorder(thread).total_ns());
      EXPECT_GE(spans, 0.98 * wall - 50'000) << "thread " << thread << " of " << threads;
      EXPECT_LE(spans, wall);
    }
  }
}

/// Flops of all sections of one phase.
double flops(const Profile& profile, const std::string& phase) {
  double sum = 0;
  for (const ProfileRow& row : profile_rows(profile))
    if (row.section.phase == phase) sum += row.flops;
  return sum;
}

TEST(TrainingSpans, HoldTheWorkOfTheNetwork) {
  Network net = with_residual();
  std::vector<LayerPlan> plans = net.plans();
  plans.pop_back();  // the softmax is part of the loss
  const Sequence<float> body(plans);
  for (const int threads : {1, 2}) {
    Profile profile;
    train(threads, &profile);
    EXPECT_EQ(profile.steps, 2 * 4);
    EXPECT_EQ(profile.samples, 2 * 200);
    EXPECT_EQ(profile.validation_samples, 2 * 70);
    const double forward = body.forward_cost(400).flops, backward = body.backward_cost(400, false).flops;
    EXPECT_NEAR(flops(profile, "forward"), forward, 1e-9 * forward);
    EXPECT_NEAR(flops(profile, "backward"), backward, 1e-9 * backward);
    const double validation = body.forward_cost(140).flops;
    EXPECT_NEAR(flops(profile, "validation"), validation, 1e-9 * validation);
    EXPECT_GT(flops(profile, "loss"), 0);
    // The chunks of this network hold all slots of a thread, so what is left to add are the sums of threads. (Thread 0
    // also adds up the few running statistics, which do not count.)
    const double additions = 8.0 * (threads - 1) * double(net.trainable_count());
    EXPECT_NEAR(flops(profile, "reduce"), additions, 1e-6);
    EXPECT_NEAR(flops(profile, "update"), 8 * optimizer_cost(net.trainable_count(), 2, 4).flops, 1e-6);
  }
}

TEST(TrainingSpans, EveryLayerThatRunsHasBothDirections) {
  Profile profile;
  train(2, &profile);
  std::map<std::string, int> directions;
  for (const ProfileRow& row : profile_rows(profile))
    if (row.section.name != row.section.phase) ++directions[row.section.name];
  const std::map<std::string, int> expected = {{"0 conv2d", 2},      {"1 batch_norm", 2},        {"2 relu", 2},
                                               {"3 max_pool2d", 2},  {"4 residual", 2},          {"4.body.0 conv2d", 2},
                                               {"4.body.1 gelu", 2}, {"4.shortcut.0 conv2d", 2}, {"6 dropout", 2},
                                               {"7 linear", 2}};
  EXPECT_EQ(directions, expected);
}

TEST(TrainingSpans, OneFitFillsOneProfile) {
  const DataSplits data = image_data();
  Network net = with_residual();
  Trainer trainer(net, options(2));
  Profile profile;
  trainer.fit(*data.train, {.profile = &profile});
  const std::int64_t spans = profile.spans();
  trainer.fit(*data.train, {});
  const std::int64_t ids[] = {1, 2, 3};
  trainer.step(*data.train, ids);
  trainer.evaluate(*data.test);
  EXPECT_EQ(profile.spans(), spans);
  trainer.fit(*data.train, {.profile = &profile});
  EXPECT_EQ(profile.samples, 200);
}

}  // namespace
}  // namespace lockstep
