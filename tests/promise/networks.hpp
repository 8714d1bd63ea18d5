#pragma once
// The networks of the promise: each trained on little data for a few steps, and everything that came out as one hash.

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lockstep/core/sha256.hpp"
#include "lockstep/data/generators.hpp"
#include "lockstep/data/memory_dataset.hpp"
#include "lockstep/lockstep.hpp"

namespace lockstep {

/// Blobs as pictures of that shape, a tenth as large; the test set has 20. `weighted`: sample s counts (s mod 4) / 2.
inline DataSplits blob_images(const Shape& shape, GeneratorConfig wanted, bool weighted = false) {
  wanted.features = shape.elements();
  const auto make = [&] {
    Samples samples = make_blobs(wanted);
    for (std::int64_t s = 0; weighted && s < wanted.count; ++s)
      samples.targets.weights.push_back(double((s + 1) % 4) / 2);
    return MemoryDataset(std::move(samples.features), shape, std::move(samples.targets)).scaled(Scaling(0.1));
  };
  DataSplits data{.train = make()};
  wanted.first = wanted.count;
  wanted.count = 20;
  data.test = make();
  return data;
}

struct PromiseRun {
  std::string name;
  Network network;
  TrainOptions options;
  Shape sample;  // the shape of the pictures
  bool weighted = false;
};

inline PromiseRun mlp_run() {
  PromiseRun run{"mlp", Network({1, 8, 8}), {}, {1, 8, 8}};
  run.network.add(Linear{.out = 33}).add(Relu{}).add(Linear{.out = 17}).add(Relu{}).add(Linear{.out = 10});
  run.options = {.optimizer = Momentum{.lr = 0.05}, .batch = 32, .slots = 16, .l2 = 1e-4};
  return run;
}

/// LeNet-5 as in examples/lenet5-fashion.toml.
inline PromiseRun lenet5_run() {
  PromiseRun run{"lenet5", Network({1, 28, 28}, Precision::float32, {.kind = InitKind::he_uniform}), {}, {1, 28, 28}};
  run.network.add(Conv2d{.out = 6, .kernel = 5, .pad = 2}).add(Relu{}).add(MaxPool2d{.window = 2});
  run.network.add(Conv2d{.out = 16, .kernel = 5}).add(Relu{}).add(MaxPool2d{.window = 2}).add(Flatten{});
  run.network.add(Linear{.out = 120}).add(Relu{}).add(Linear{.out = 84}).add(Relu{}).add(Linear{.out = 10});
  run.options = {.optimizer = Adam{.lr = 1e-3}, .batch = 40, .slots = 8};
  return run;
}

/// The layers of examples/bn-cnn-fashion.toml, narrower, with dropout.
inline PromiseRun bn_cnn_run() {
  PromiseRun run{"bn-cnn", Network({1, 12, 12}, Precision::float32, {.kind = InitKind::he_normal}), {}, {1, 12, 12}};
  for (const std::int64_t out : {8, 12}) {
    for (int i = 0; i < 2; ++i)
      run.network.add(Conv2d{.out = out, .kernel = 3, .pad = 1, .bias = false}).add(BatchNorm{}).add(Relu{});
    run.network.add(MaxPool2d{.window = 2});
  }
  run.network.add(Flatten{}).add(Dropout{.p = 0.3}).add(Linear{.out = 24}).add(Relu{}).add(Dropout{.p = 0.5});
  run.network.add(Linear{.out = 10});
  run.options = {.optimizer = AdamW{.lr = 2e-3},
                 .schedule = {.kind = ScheduleKind::cosine},
                 .batch = 40,
                 .slots = 4,
                 .clip_norm = 1};
  return run;
}

/// What an everyday training adds: weights of samples and classes, smoothed labels, metrics, a rate that falls where
/// the validation does not gain.
inline PromiseRun everyday_run() {
  PromiseRun run{"everyday", Network({1, 4, 4}), {}, {1, 4, 4}, true};
  run.network.add(Linear{.out = 19}).add(Relu{}).add(Linear{.out = 10});
  run.options = {.optimizer = Adam{.lr = 1e-2},
                 .schedule = {.kind = ScheduleKind::plateau, .patience = 1, .metric = "f1"},
                 .label_smoothing = 0.1,
                 .batch = 32,
                 .slots = 8,
                 .class_weights = {.balanced = true},
                 .metrics = {{MetricKind::top_k, 3}, {MetricKind::precision}}};
  return run;
}

/// Averaged weights and running statistics: validation and hashes are those of the average.
inline PromiseRun averaged_run() {
  PromiseRun run{"averaged", Network({1, 4, 4}), {}, {1, 4, 4}};
  run.network.add(Conv2d{.out = 5, .kernel = 3, .pad = 1, .bias = false}).add(BatchNorm{}).add(Relu{}).add(Flatten{});
  run.network.add(Linear{.out = 10});
  run.options = {
      .optimizer = Momentum{.lr = 0.05}, .batch = 16, .slots = 8, .average = {.kind = AverageKind::ema, .decay = 0.7}};
  return run;
}

/// Statistics of the whole batch, in a residual block too. Its layers cannot be split over ranks.
inline PromiseRun batch_wide_run(Precision precision = Precision::float32) {
  const BatchNorm norm{.over = NormOver::batch};
  PromiseRun run{"batch-wide", Network({1, 6, 6}, precision), {}, {1, 6, 6}};
  run.network.add(Conv2d{.out = 5, .kernel = 3, .pad = 1, .bias = false}).add(norm).add(Relu{});
  run.network.add(Residual{.body = {Conv2d{.out = 7, .kernel = 3, .pad = 1, .bias = false}, norm, Relu{}},
                           .shortcut = {Conv2d{.out = 7, .kernel = 1}, norm}});
  run.network.add(MaxPool2d{.window = 2}).add(Flatten{}).add(Linear{.out = 24}).add(norm).add(Relu{});
  run.network.add(Linear{.out = 10});
  run.options = {.optimizer = Adam{.lr = 1e-2}, .batch = 42, .slots = 8, .clip_norm = 1};
  return run;
}

inline std::vector<PromiseRun> promise_runs() {
  return {mlp_run(), lenet5_run(), bn_cnn_run(), everyday_run(), averaged_run(), batch_wide_run()};
}

/// With batches of 32 or 40 the last batch is a remainder, and its slots are ragged.
inline DataSplits promise_data(const PromiseRun& run, std::int64_t count = 50) {
  return blob_images(run.sample, {.count = count, .noise = 5, .classes = 10}, run.weighted);
}

/// Every recurrent layer, in both directions and several layers, over sequences of 1 to 5 steps. Of sequence_data().
inline PromiseRun recurrent_run(Precision precision = Precision::float32) {
  PromiseRun run{
      "recurrent", Network({7, 5}, precision, {.kind = InitKind::fan_in_uniform, .biases = true}), {}, {7, 5}};
  run.network.add(Gru{.hidden = 9, .bidirectional = true, .all_steps = true});
  run.network.add(Rnn{.hidden = 6, .layers = 2, .all_steps = true}).add(Dropout{.p = 0.2});
  run.network.add(Lstm{.hidden = 11, .layers = 2, .bidirectional = true}).add(Linear{.out = 10});
  run.options = {.optimizer = Adam{.lr = 1e-2}, .batch = 40, .slots = 8, .clip_norm = 1};
  return run;
}

/// A small transformer over tokens, with a class for every step. Of text_data().
inline PromiseRun text_run(Precision precision = Precision::float32) {
  PromiseRun run{"text", Network({9}, precision), {}, {9}};
  run.network.add(Embedding{.out = 12, .vocabulary = 11}).add(Positions{}).add(Dropout{.p = 0.1});
  run.network.add(Residual{.body = {LayerNorm{.per_step = true}, Attention{.heads = 3, .causal = true}}});
  run.network.add(Residual{.body = {LayerNorm{.per_step = true}, Linear{.out = 20, .per_step = true}, Gelu{},
                                    Linear{.out = 12, .per_step = true}, Dropout{.p = 0.1}}});
  run.network.add(Lstm{.hidden = 7, .all_steps = true}).add(Attention{.heads = 1});
  run.network.add(Linear{.out = 11, .per_step = true});
  run.options = {.optimizer = Adam{.lr = 1e-2}, .batch = 40, .slots = 8, .clip_norm = 1};
  return run;
}

/// Truncated back-propagation through time: three windows of three steps, whose states are carried on. Of text_data
/// without lengths.
inline PromiseRun windows_run(Precision precision = Precision::float32) {
  PromiseRun run{"windows", Network({9}, precision, {.kind = InitKind::fan_in_uniform, .biases = true}), {}, {9}};
  run.network.add(Embedding{.out = 6, .vocabulary = 11}).add(Lstm{.hidden = 7, .layers = 2, .all_steps = true});
  run.network.add(Residual{.body = {LayerNorm{.per_step = true}, Gru{.hidden = 7, .all_steps = true}}});
  run.network.add(Dropout{.p = 0.1}).add(Rnn{.hidden = 5, .all_steps = true}).add(Linear{.out = 11, .per_step = true});
  run.options = {.optimizer = Adam{.lr = 1e-2}, .batch = 40, .slots = 8, .clip_norm = 1, .truncate = 3};
  return run;
}

/// Windows of tokens, each sample with a length, where that is wanted.
inline DataSplits text_data(std::int64_t count = 50, bool ragged = true) {
  const auto make = [ragged](std::int64_t first, std::int64_t samples) {
    Array x = make_array(ElementType::uint8, {samples, 9}), y = make_array(ElementType::uint8, {samples, 9});
    std::vector<std::int64_t> lengths;
    for (std::int64_t i = 0; i < samples * 9; ++i) {
      const std::int64_t at = first * 9 + i;
      x.as<std::uint8_t>()[std::size_t(i)] = std::uint8_t(at * at % 11);
      y.as<std::uint8_t>()[std::size_t(i)] = std::uint8_t((at + 1) * (at + 1) % 11);
    }
    for (std::int64_t i = first; ragged && i < first + samples; ++i) lengths.push_back(1 + i * i % 9);
    Targets targets{.labels = {}, .classes = 0, .values = std::move(y), .weights = {}, .step_classes = 11};
    return std::make_shared<MemoryDataset>(std::move(x), Shape{9}, std::move(targets), "tokens", std::nullopt,
                                           std::nullopt, false, lengths);
  };
  DataSplits data;
  data.train = make(0, count);
  data.test = make(count, 30);
  return data;
}

/// The data of recurrent_run(): as promise_data, each sample with a length.
inline DataSplits sequence_data(std::int64_t count = 50) {
  const auto make = [](std::int64_t first, std::int64_t samples_of) {
    Samples samples = make_blobs({.first = first, .count = samples_of, .noise = 5, .classes = 10, .features = 7 * 5});
    std::vector<std::int64_t> lengths;
    for (std::int64_t i = first; i < first + samples_of; ++i) lengths.push_back(1 + i * i % 5);
    return MemoryDataset(std::move(samples.features), {7, 5}, std::move(samples.targets), "sequences", std::nullopt,
                         std::nullopt, false, lengths)
        .scaled(Scaling(0.1));
  };
  return {.train = make(0, count), .test = make(count, 20)};
}

inline void feed(Sha256& hash, const std::string& text) { hash.update(std::as_bytes(std::span(text))); }

inline void feed(Sha256& hash, const Scores& scores) {
  feed(hash, std::to_string(std::bit_cast<std::uint64_t>(scores.loss)) + " " + std::to_string(*scores.correct) + "\n");
  for (const MetricValue& metric : scores.metrics)
    feed(hash, metric.name + " " + std::to_string(std::bit_cast<std::uint64_t>(metric.value)) + "\n");
}

inline void feed(Sha256& hash, const std::vector<EpochReport>& epochs) {
  for (const EpochReport& epoch : epochs) {
    feed(hash, epoch.weight_hash + "\n");
    feed(hash, epoch.train);
    feed(hash, *epoch.validation);
  }
}

/// Trains for two epochs: weights, losses and counts of correct answers of every epoch go into the hash. As one of
/// several ranks, where some are given.
inline void feed_training(Sha256& hash, Network network, const TrainOptions& options, const Dataset& train,
                          const Dataset& test, Ranks* ranks = nullptr) {
  network.initialise(7);
  Trainer trainer = ranks != nullptr ? Trainer(network, options, *ranks) : Trainer(network, options);
  feed(hash, trainer.fit(train, {.epochs = 2, .validation = &test}));
}

inline std::string training_hash(const PromiseRun& run, const Dataset& train, const Dataset& test,
                                 Ranks* ranks = nullptr) {
  Sha256 hash;
  feed_training(hash, run.network, run.options, train, test, ranks);
  return to_hex(hash.finish());
}

}  // namespace lockstep
