// Trains small networks that use every layer, loss and optimiser, in both precisions, and prints one line per backend:
// its name and one hash over all weights, losses and counts of correct answers. The hash must not depend on the
// backend, the compiler or its flags.

#include <bit>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "lockstep/core/sha256.hpp"
#include "lockstep/lockstep.hpp"

namespace {

using namespace lockstep;

DataSplits image_data() {
  return load_data(
      {.source = "blobs", .shape = {1, 8, 8}, .count = 96, .test_count = 20, .classes = 4, .features = 64});
}

/// Convolutions (strided, dilated, grouped), batch normalisation, both poolings, a residual block, dropout.
Network convolutional(Precision precision) {
  Network net({1, 8, 8}, precision, {.kind = InitKind::he_normal});
  net.add(Conv2d{.out = 4, .kernel = 3, .pad = 1}).add(BatchNorm{}).add(Relu{}).add(MaxPool2d{.window = 2});
  net.add(Residual{.body = {Conv2d{.out = 4, .kernel = 3, .pad = 2, .dilation = 2, .groups = 2}, Gelu{}}});
  net.add(Conv2d{.out = 6, .kernel = 2, .stride = 2}).add(Tanh{}).add(AvgPool2d{.window = 2, .stride = 1});
  net.add(Flatten{}).add(Dropout{.p = 0.25}).add(Linear{.out = 4});
  return net;
}

/// The other activations.
Network dense(Precision precision) {
  Network net({64}, precision);
  net.add(Linear{.out = 13}).add(LeakyRelu{}).add(Linear{.out = 11}).add(AbsTanh{}).add(Linear{.out = 4});
  net.add(Sigmoid{});
  return net;
}

void feed(Sha256& hash, const std::string& text) { hash.update(std::as_bytes(std::span(text))); }

void feed(Sha256& hash, const Scores& scores) {
  feed(hash, std::to_string(std::bit_cast<std::uint64_t>(scores.loss)) + " " + std::to_string(*scores.correct) + "\n");
}

void train(Sha256& hash, Network net, const TrainOptions& options, const DataSplits& data) {
  net.initialise(7);
  Trainer trainer(net, options);
  for (const EpochReport& epoch : trainer.fit(*data.train, {.epochs = 2, .validation = data.test.get()})) {
    feed(hash, epoch.weight_hash + "\n");
    feed(hash, epoch.train);
    feed(hash, *epoch.validation);
  }
}

std::string hash_of(Backend backend, const DataSplits& data) {
  Sha256 hash;
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    const auto run = [&](Network net, TrainOptions options) {
      options.backend = backend;
      train(hash, std::move(net), options, data);
    };
    // 96 samples in batches of 40: the last batch is a remainder, and its slots are ragged.
    run(convolutional(precision), {.optimizer = Adam{.lr = 1e-2}, .batch = 40, .slots = 4});
    run(convolutional(precision), {.optimizer = AdamW{}, .schedule = {.kind = ScheduleKind::cosine}, .batch = 17});
    run(dense(precision), {.loss = Loss::binary_cross_entropy,
                           .optimizer = Sgd{.lr = 0.1, .momentum = 0.9, .nesterov = true},
                           .batch = 32,
                           .l2 = 1e-3});
    run(dense(precision), {.loss = Loss::squared_error, .optimizer = RmsProp{}, .batch = 0, .clip_norm = 0.5});
  }
  return to_hex(hash.finish());
}

}  // namespace

int main() {
  try {
    const DataSplits data = image_data();
    const auto& names = backend_names();
    for (std::size_t i = 0; i < names.size(); ++i)
      if (const auto backend = static_cast<Backend>(i); keeps_the_promise(backend))
        std::printf("%s %s\n", names[i].c_str(), hash_of(backend, data).c_str());
  } catch (const Error& error) {
    std::fprintf(stderr, "train_hash: %s\n", error.what());
    return static_cast<int>(error.code());
  }
}
