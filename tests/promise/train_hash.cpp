// Trains the networks of the promise, and small ones that use every layer, loss and optimiser in both precisions, and
// prints one line per backend and instruction set: its name and one hash over all weights, losses and counts of correct
// answers. The hash must not depend on the backend, the instruction set, the compiler or its flags.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "lockstep/kernels/backend.hpp"
#include "lockstep/kernels/device/device.hpp"
#include "lockstep/kernels/simd/table.hpp"
#include "tests/promise/networks.hpp"

namespace {

using namespace lockstep;

DataSplits image_data() { return blob_images({1, 8, 8}, {.count = 96, .noise = 1, .classes = 4}); }

/// Convolutions (strided, dilated, grouped), batch normalisation, both poolings, a residual block, dropout.
Network convolutional(Precision precision) {
  Network net({1, 8, 8}, precision, {.kind = InitKind::he_normal});
  net.add(Conv2d{.out = 4, .kernel = 3, .pad = 1}).add(BatchNorm{}).add(Relu{}).add(MaxPool2d{.window = 2});
  net.add(Residual{.body = {Conv2d{.out = 4, .kernel = 3, .pad = 2, .dilation = 2, .groups = 2}, Gelu{}}});
  net.add(Conv2d{.out = 6, .kernel = 2, .stride = 2}).add(Tanh{}).add(AvgPool2d{.window = 2, .stride = 1});
  net.add(Flatten{}).add(Dropout{.p = 0.25}).add(Linear{.out = 4});
  return net;
}

/// The other activations, layer normalisation.
Network dense(Precision precision) {
  Network net({64}, precision);
  net.add(Linear{.out = 13})
      .add(LayerNorm{})
      .add(LeakyRelu{})
      .add(Linear{.out = 11})
      .add(AbsTanh{})
      .add(Linear{.out = 4});
  net.add(Sigmoid{});
  return net;
}

/// The naive kernels at -O0 take their time: one team is enough for them.
std::string hash_of_any_team(PromiseRun run, Backend backend) {
  const DataSplits data = promise_data(run);
  run.options.backend = backend;
  run.options.threads = 1;
  std::string expected = training_hash(run, *data.train, *data.test);
  if (backend == Backend::naive_o0) return expected;
  for (const int threads : {2, 3, 4, 7, 16}) {
    run.options.threads = threads;
    if (training_hash(run, *data.train, *data.test) != expected)
      throw Error(ErrorCode::bug, run.name + ": another hash with " + std::to_string(threads) + " threads");
  }
  return expected;
}

std::string hash_of(Backend backend) {
  Sha256 hash;
  for (const PromiseRun& run : promise_runs()) feed(hash, hash_of_any_team(run, backend));
  const DataSplits data = image_data(), sequences = sequence_data(), tokens = text_data(),
                   even_tokens = text_data(50, false);
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    const auto run = [&](Network net, TrainOptions options) {
      options.backend = backend;
      feed_training(hash, std::move(net), options, *data.train, *data.test);
    };
    // 96 samples in batches of 40: the last batch is a remainder, and its slots are ragged.
    run(convolutional(precision), {.optimizer = Adam{.lr = 1e-2}, .batch = 40, .slots = 4});
    run(convolutional(precision), {.optimizer = AdamW{}, .schedule = {.kind = ScheduleKind::cosine}, .batch = 17});
    run(dense(precision),
        {.loss = Loss::binary_cross_entropy, .optimizer = Nesterov{.lr = 0.1}, .batch = 32, .l2 = 1e-3});
    run(dense(precision), {.loss = Loss::squared_error, .optimizer = Lion{.weight_decay = 0.1}, .batch = 16});
    run(dense(precision), {.loss = Loss::huber, .optimizer = Adam{}, .huber_delta = 0.3, .batch = 24});
    run(convolutional(precision), {.loss = Loss::focal, .optimizer = Adam{}, .batch = 48});
    run(dense(precision), {.loss = Loss::squared_error, .optimizer = RmsProp{}, .batch = 0, .clip_norm = 0.5});
    PromiseRun recurrent = recurrent_run(precision);
    recurrent.options.backend = backend;
    feed_training(hash, std::move(recurrent.network), recurrent.options, *sequences.train, *sequences.test);
    PromiseRun text = text_run(precision);
    text.options.backend = backend;
    feed_training(hash, std::move(text.network), text.options, *tokens.train, *tokens.test);
    PromiseRun in_windows = windows_run(precision);
    in_windows.options.backend = backend;
    feed_training(hash, std::move(in_windows.network), in_windows.options, *even_tokens.train, *even_tokens.test);
  }
  return to_hex(hash.finish());
}

}  // namespace

int main() {
  try {
    const auto& names = backend_names();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto backend = static_cast<Backend>(i);
      if (!keeps_the_promise(backend) || on_device(backend)) continue;
      if (backend != Backend::simd) {
        std::printf("%s %s\n", names[i].c_str(), hash_of(backend).c_str());
        continue;
      }
      for (const Isa isa : supported_isas()) {
        const std::string isa_text(isa_name(isa));
        ::setenv("LOCKSTEP_ISA", isa_text.c_str(), 1);
        std::printf("%s.%s %s\n", names[i].c_str(), isa_text.c_str(), hash_of(backend).c_str());
      }
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "train_hash: %s\n", error.what());
    return static_cast<int>(error.code());
  }
}
