// Published results that Lockstep must reproduce. Where the data are not on this machine a test skips and says so.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "lockstep/data/source.hpp"
#include "lockstep/model/weights.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {
namespace {

const std::filesystem::path kCoursera = std::filesystem::path(LOCKSTEP_TEST_DATA) / "coursera";
const std::filesystem::path kMnist = std::filesystem::path(LOCKSTEP_TEST_DATA) / "mnist";

/// The 5000 digits and the network 400-25-10 of the Stanford machine-learning exercise 4.
class Digits : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kCoursera / "ex4data1.mat") || !std::filesystem::exists(kCoursera / "ex4weights.mat"))
      GTEST_SKIP() << kCoursera << " holds no ex4data1.mat and ex4weights.mat; set LOCKSTEP_TEST_DATA";
    data = load_data({.source = kCoursera / "ex4data1.mat"}).train;
  }

  static Network network(const Init& init = {}) {
    return Network::from_sizes({400, 25, 10}, Sigmoid{}, Sigmoid{}, Precision::float64, init);
  }
  static TrainOptions options(double rate, double l2 = 0) {
    return {.loss = Loss::binary_cross_entropy, .optimizer = Sgd{.lr = rate}, .batch = 0, .l2 = l2};
  }
  /// The share of correct answers after full-batch descent from weights uniform in +-0.12.
  double descend(double rate, std::int64_t iterations, std::uint64_t seed) const {
    Network net = network({.kind = InitKind::uniform, .scale = 0.12, .biases = true});
    net.initialise(seed);
    Trainer trainer(net, options(rate));
    trainer.fit(*data, {.epochs = iterations});
    return *trainer.evaluate(*data).accuracy();
  }

  std::shared_ptr<const Dataset> data;
};

TEST_F(Digits, CostAndScoreOfPublishedWeights) {
  Network net = network();
  load_weights(kCoursera / "ex4weights.mat", net);
  const Trainer plain(net, options(1)), regularised(net, options(1, 1.0 / 5000));
  const Scores scores = plain.evaluate(*data);
  EXPECT_NEAR(scores.loss, 0.28762916516131887, 1e-12);
  EXPECT_NEAR(scores.loss + regularised.penalty(), 0.3837698590909236, 1e-12);
  EXPECT_EQ(scores.correct, 4876) << "97.52 % of 5000";
}

TEST_F(Digits, DescentAtRateTwo) { EXPECT_GT(descend(2.0, 300, 1), 0.93); }

TEST_F(Digits, DescentAtRateOneTenth) {
  const double accuracy = descend(0.1, 60, 1);
  EXPECT_GT(accuracy, 0.25);
  EXPECT_LT(accuracy, 0.45);
}

/// Points of a square, 2-20-1: 199 batches of 1024 to train on, one to test, in the order they were made.
class Quadrants : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, Quadrants, ::testing::Values(1, 2, 3));

TEST_P(Quadrants, AreLearnt) {
  const DataSplits data =
      load_data({.source = "quadrants", .count = 199 * 1024, .test_count = 1024, .seed = GetParam()});
  Network net({2}, Precision::float32, {.kind = InitKind::normal, .scale = 0.01});
  net.add(Linear{.out = 20}).add(Relu{}).add(Linear{.out = 1}).add(Sigmoid{});
  net.initialise(GetParam());
  Trainer trainer(net,
                  {.loss = Loss::binary_cross_entropy, .optimizer = Sgd{.lr = 0.1}, .batch = 1024, .shuffle = false});
  trainer.fit(*data.train, {.epochs = 10});
  const Scores scores = trainer.evaluate(*data.test);
  std::printf("test loss %.6f, accuracy %.6f\n", scores.loss, *scores.accuracy());
  EXPECT_LT(scores.loss, 0.12);
  EXPECT_GE(*scores.accuracy(), 0.998);
}

TEST(Mnist, ThreeLayersOfSigmoids) {
  if (!std::filesystem::exists(kMnist / "train-images-idx3-ubyte.gz"))
    GTEST_SKIP() << kMnist << " holds no MNIST; set LOCKSTEP_TEST_DATA";
  const DataSplits data = load_data({.source = kMnist / "train-images-idx3-ubyte.gz",
                                     .test = kMnist / "t10k-images-idx3-ubyte.gz",
                                     .scale = 256,
                                     .split = {.train = 50000, .validation = 10000}});
  ASSERT_EQ(data.train->size(), 50000);
  ASSERT_EQ(data.validation->size(), 10000);
  ASSERT_EQ(data.test->size(), 10000);
  Network net = Network::from_sizes({784, 128, 64, 10}, Sigmoid{}, Sigmoid{}, Precision::float32,
                                    {.kind = InitKind::fan_in_uniform});
  Trainer trainer(net,
                  {.loss = Loss::squared_error, .optimizer = Sgd{.lr = 0.1}, .batch = 16, .reduction = Reduction::sum});
  for (const EpochReport& epoch : trainer.fit(*data.train, {.epochs = 5, .validation = data.validation.get()}))
    std::printf("epoch %d: validation %.4f, %.1f s\n", int(epoch.epoch), *epoch.validation->accuracy(),
                epoch.times.total);
  const double accuracy = *trainer.evaluate(*data.test).accuracy();
  std::printf("test %.4f\n", accuracy);
  EXPECT_GT(accuracy, 0.96);
}

TEST(Moons, AreSeparated) {
  const DataSplits data = load_data({.source = "moons", .count = 1000, .test_count = 1000});
  Network net =
      Network::from_sizes({2, 3, 3, 1}, Sigmoid{}, Sigmoid{}, Precision::float64, {.kind = InitKind::xavier_normal});
  Trainer trainer(net, {.loss = Loss::binary_cross_entropy, .optimizer = Adam{.lr = 0.05}, .batch = 50});
  trainer.fit(*data.train, {.epochs = 200});
  const double train = *trainer.evaluate(*data.train).accuracy(), test = *trainer.evaluate(*data.test).accuracy();
  std::printf("training set %.4f, test set %.4f\n", train, test);
  EXPECT_GT(train, 0.99);
  EXPECT_GT(test, 0.99);
}

}  // namespace
}  // namespace lockstep
