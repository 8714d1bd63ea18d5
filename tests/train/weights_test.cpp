// Weights of samples and classes: what a mean over them is, who sees them, and what is refused.
#include <cmath>
#include <memory>
#include <numeric>

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/generators.hpp"
#include "lockstep/data/memory_dataset.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {
namespace {

constexpr std::int64_t kSamples = 30;

MemoryDataset blobs(std::vector<double> weights = {}) {
  Samples samples = make_blobs({.count = kSamples, .noise = 2, .classes = 3, .features = 4});
  samples.targets.weights = std::move(weights);
  return {std::move(samples.features), Shape{4}, std::move(samples.targets)};
}

/// Samples with real targets.
MemoryDataset numbers(std::vector<double> weights = {}) {
  Samples samples = make_blobs({.count = kSamples, .noise = 2, .classes = 3, .features = 4});
  Array values = make_array(ElementType::float64, {kSamples, 2});
  for (std::size_t i = 0; i < values.as<double>().size(); ++i) values.as<double>()[i] = std::sin(double(i));
  Targets targets = make_values(std::move(values), "y");
  targets.weights = std::move(weights);
  return {std::move(samples.features), Shape{4}, std::move(targets)};
}

std::vector<double> some_weights() {
  std::vector<double> weights;
  for (std::int64_t s = 0; s < kSamples; ++s) weights.push_back(double(s * 7 % 5) / 2);
  return weights;
}

Network network(std::int64_t outputs) {
  Network net({4}, Precision::float64);
  net.add(Linear{.out = 6}).add(Tanh{}).add(Linear{.out = outputs});
  net.initialise(3);
  return net;
}

std::vector<std::int64_t> all_ids() { return ids_from(0, kSamples); }

/// The gradient is the sum over samples of weight * their own gradient, divided by the sum of the weights.
void expect_weighted_mean(const Dataset& data, const Dataset& plain, const TrainOptions& options,
                          const std::vector<double>& weights, std::int64_t outputs) {
  Network net = network(outputs);
  TrainOptions unweighted = options;
  unweighted.class_weights = {};
  Trainer trainer(net, options), each(net, unweighted);
  const std::vector<double> gradient = trainer.gradient(data, all_ids());
  std::vector<double> expected(gradient.size(), 0);
  const double divisor = options.reduction == Reduction::sum ? 1 : std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::int64_t s = 0; s < kSamples; ++s) {
    const std::vector<double> own = each.gradient(plain, std::vector<std::int64_t>{s});
    for (std::size_t i = 0; i < own.size(); ++i) expected[i] += weights[std::size_t(s)] * own[i] / divisor;
  }
  for (std::size_t i = 0; i < gradient.size(); ++i) EXPECT_NEAR(gradient[i], expected[i], 1e-13) << i;
}

TEST(Weights, OfSamplesMakeAWeightedMean) {
  const std::vector<double> weights = some_weights();
  for (const Reduction reduction : {Reduction::mean, Reduction::sum}) {
    expect_weighted_mean(blobs(weights), blobs(), {.reduction = reduction}, weights, 3);
    expect_weighted_mean(numbers(weights), numbers(), {.loss = Loss::squared_error, .reduction = reduction}, weights,
                         2);
  }
}

TEST(Weights, OfClassesMultiplyThoseOfSamples) {
  const MemoryDataset data = blobs(some_weights());
  const std::vector<double> by_class = {0.5, 0, 4};
  std::vector<std::int32_t> labels(kSamples);
  data.labels(all_ids(), labels);
  std::vector<double> product = some_weights();
  for (std::size_t s = 0; s < labels.size(); ++s) product[s] *= by_class[std::size_t(labels[s])];
  expect_weighted_mean(data, blobs(), {.class_weights = {.values = by_class}}, product, 3);
}

TEST(Weights, BalancedClassesCountTheSame) {
  Samples samples = make_blobs({.count = kSamples, .noise = 2, .classes = 3, .features = 4});
  for (std::size_t s = 0; s < kSamples; ++s) samples.targets.labels[s] = s < 20 ? 0 : s < 26 ? 1 : 2;  // 20, 6, 4
  samples.targets.classes = 4;                                                                         // and none of 3
  const MemoryDataset data(std::move(samples.features), Shape{4}, std::move(samples.targets));
  const SampleWeights weights(data, {.balanced = true});
  std::vector<double> own(kSamples);
  weights.gather(all_ids(), std::span(own));
  EXPECT_EQ(own[0], 30.0 / (3 * 20));
  EXPECT_EQ(own[20], 30.0 / (3 * 6));
  EXPECT_EQ(own[29], 30.0 / (3 * 4));
  EXPECT_NEAR(weights.sum(all_ids()), kSamples, 1e-12);
}

/// Weights that are all 1 are no weights, to the bit; a factor common to all changes rounding only.
TEST(Weights, OfOneChangeNothing) {
  const auto hash = [](const Dataset& data, const ClassWeights& classes) {
    Network net = network(3);
    Trainer trainer(net, {.batch = 8, .class_weights = classes});
    return trainer.fit(data, {.epochs = 2}).back();
  };
  const EpochReport plain = hash(blobs(), {}),
                    ones = hash(blobs(std::vector<double>(kSamples, 1)), {.values = {1, 1, 1}});
  EXPECT_EQ(plain.weight_hash, ones.weight_hash);
  EXPECT_EQ(plain.train.loss, ones.train.loss);
  EXPECT_NEAR(hash(blobs(std::vector<double>(kSamples, 3)), {}).train.loss, plain.train.loss, 1e-12);
}

/// The loss of training is the weighted mean; an evaluation counts every sample once.
TEST(Weights, AreForTrainingOnly) {
  const MemoryDataset weighted = blobs(some_weights()), plain = blobs();
  Network net = network(3);
  Trainer trainer(net, {.optimizer = Sgd{.lr = 0}, .batch = 7, .class_weights = {.balanced = true}});
  const EpochReport report = trainer.fit(weighted, {.epochs = 1, .validation = &weighted}).back();
  EXPECT_EQ(trainer.evaluate(weighted).loss, trainer.evaluate(plain).loss);
  EXPECT_EQ(report.validation->loss, trainer.evaluate(plain).loss);
  EXPECT_EQ(report.train.correct, report.validation->correct);
  EXPECT_EQ(report.train.samples, kSamples);
  EXPECT_GT(std::abs(report.train.loss - report.validation->loss), 1e-6);
}

TEST(Weights, OfABatchThatAreAllZeroMoveNothing) {
  std::vector<double> weights(kSamples, 0);
  weights[29] = 1;
  const MemoryDataset data = blobs(weights);
  Network net = network(3);
  Trainer trainer(net, {.optimizer = Sgd{.lr = 0.5}, .batch = 10, .shuffle = false});
  const std::string before = weight_hash(net.values());
  EXPECT_EQ(trainer.step(data, ids_from(0, 10)), 0);
  EXPECT_EQ(weight_hash(net.values()), before);
  EXPECT_GT(trainer.step(data, ids_from(20, 10)), 0);
  EXPECT_NE(weight_hash(net.values()), before);
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Weights, ThatMakeNoSenseAreRefused) {
  const auto with = [](std::size_t at, double weight) {
    std::vector<double> weights(kSamples, 1);
    weights[at] = weight;
    return [weights] { blobs(weights); };
  };
  EXPECT_EQ(refusal(with(3, -1)), "data set: the weight of sample 3 is -1; a weight is a finite number, at least 0");
  EXPECT_EQ(refusal(with(4, std::nan(""))),
            "data set: the weight of sample 4 is nan; a weight is a finite number, at least 0");
  EXPECT_EQ(refusal(with(0, INFINITY)),
            "data set: the weight of sample 0 is inf; a weight is a finite number, at least 0");
  EXPECT_EQ(refusal([] { blobs(std::vector<double>(kSamples, 0)); }),
            "data set: every sample has weight 0; at least one must be larger");
  EXPECT_EQ(refusal([] { blobs({1, 2}); }), "data set: 30 samples but 2 weights, one weight per sample was expected");
  const auto train = [](const Dataset& data, ClassWeights classes, std::int64_t outputs, Loss loss) {
    Network net = network(outputs);
    Trainer(net, {.loss = loss, .class_weights = std::move(classes)}).fit(data, {.epochs = 1});
  };
  EXPECT_EQ(refusal([&] {
              train(blobs(), {.values = {1, 2}}, 3, Loss::cross_entropy);
            }),
            "class_weights: 2 weights for 3 classes; give one per class");
  EXPECT_EQ(refusal([&] {
              train(blobs(), {.values = {1, 2, -3}}, 3, Loss::cross_entropy);
            }),
            "class_weights: the weight of class 2 is -3; a weight is a finite number, at least 0");
  EXPECT_EQ(refusal([&] {
              train(blobs(), {.values = {0, 0, 0}}, 3, Loss::cross_entropy);
            }),
            "class_weights: every class has weight 0; at least one must be larger");
  EXPECT_EQ(refusal([&] { train(numbers(), {.balanced = true}, 2, Loss::squared_error); }),
            "class_weights: the data has real-valued targets and no classes; weigh samples instead");
  std::vector<double> only_class_0(kSamples, 0);
  std::vector<std::int32_t> labels(kSamples);
  blobs().labels(all_ids(), labels);
  for (std::size_t s = 0; s < labels.size(); ++s) only_class_0[s] = labels[s] == 0 ? 1 : 0;
  EXPECT_EQ(refusal([&] {
              train(blobs(only_class_0), {.values = {0, 1, 1}}, 3, Loss::cross_entropy);
            }),
            "every training sample has weight 0; at least one must be larger");
}

}  // namespace
}  // namespace lockstep
