#include "cli/bench/cases.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/bench/layers.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/nn/sequence.hpp"
#include "lockstep/train/slot_chunks.hpp"

namespace lockstep::cli {

namespace {

template <class T>
BenchChunk chunk_of(const Network& network, std::int64_t batch, std::int64_t slots, bool whole) {
  if (slots == 0) slots = auto_slots(batch);
  const Sequence<T> body(network.plans());
  const std::int64_t count =
      whole ? slots : slots_per_chunk(batch, slots, {body.activation_elements(), network.parameter_count(), sizeof(T)});
  std::vector<std::int64_t> bounds = cut_into_slots(batch, slots);
  bounds.resize(static_cast<std::size_t>(count + 1));
  return {std::make_shared<const std::vector<std::int64_t>>(std::move(bounds))};
}

/// How an example trains.
struct Training {
  std::int64_t batch;
  std::int64_t slots = 0;  // 0: auto
  bool adam = false;       // else gradient descent with momentum
  bool whole = false;      // the whole batch at a time
};

template <class T>
BenchGroup group_of(const std::string& name, const std::string& title, const Network& network,
                    const Training& training) {
  const BenchChunk chunk = chunk_of<T>(network, training.batch, training.slots, training.whole);
  LayerCases<T> cases(chunk);
  cases.add_layers(network);
  cases.add_loss(network.output().elements());
  cases.add_update(network.parameter_count(), training.adam);
  return {.name = name,
          .title = fmt::format("{}, batch {}, {}: {} of {} samples in {}", title, training.batch,
                               to_string(network.precision()), training.whole ? "one chunk (a device's)" : "chunks",
                               chunk.samples(), count_of(chunk.slots().count(), "slot")),
          .precision = network.precision(),
          .cases = cases.take()};
}

Network lenet5() {
  Network net({1, 28, 28});
  net.add(Conv2d{.out = 6, .kernel = 5, .pad = 2}).add(Relu{}).add(MaxPool2d{.window = 2});
  net.add(Conv2d{.out = 16, .kernel = 5}).add(Relu{}).add(MaxPool2d{.window = 2}).add(Flatten{});
  net.add(Linear{.out = 120}).add(Relu{}).add(Linear{.out = 84}).add(Relu{}).add(Linear{.out = 10});
  return net;
}

Network bn_cnn() {
  Network net({1, 28, 28});
  for (const std::int64_t channels : {32, 64}) {
    for (int i = 0; i < 2; ++i) net.add(Conv2d{.out = channels, .kernel = 3, .pad = 1}).add(BatchNorm{}).add(Relu{});
    net.add(MaxPool2d{.window = 2});
  }
  net.add(Flatten{}).add(Linear{.out = 128}).add(Relu{}).add(Linear{.out = 10});
  return net;
}

/// One picture of 1280x720 and 128 kernels of 11x11: few samples, many pixels.
BenchCase image_case(std::int64_t height) {
  LayerCases<float> cases({std::make_shared<const std::vector<std::int64_t>>(std::vector<std::int64_t>{0, 1})});
  cases.add_conv2d_forward(
      {.in_height = height, .in_width = 1280, .out_channels = 128, .kernel_h = 11, .kernel_w = 11});
  return cases.take().front();
}

BenchGroup image() {
  BenchCase whole = image_case(720);
  whole.part = std::make_shared<const BenchCase>(image_case(16));
  return {.name = "image", .title = "one picture of 1280x720, 128 kernels of 11x11, float32", .cases = {whole}};
}

std::vector<BenchGroup> all_groups(bool whole) {
  const auto mlp = [](const std::vector<std::int64_t>& sizes) { return Network::from_sizes(sizes, Relu{}, {}); };
  const Network digits = Network::from_sizes({400, 25, 10}, Sigmoid{}, Sigmoid{}, Precision::float64);
  return {group_of<float>("mlp", "784-128-10", mlp({784, 128, 10}), {.batch = 64, .whole = whole}),
          group_of<float>("mlp-wide", "784-1024-1024-10", mlp({784, 1024, 1024, 10}), {.batch = 128, .whole = whole}),
          group_of<float>("lenet5", "LeNet-5", lenet5(), {.batch = 64, .adam = true, .whole = whole}),
          group_of<float>("bn-cnn", "CNN with batch normalisation", bn_cnn(),
                          {.batch = 128, .slots = 4, .adam = true, .whole = whole}),
          group_of<double>("digits", "400-25-10", digits, {.batch = 5000, .whole = whole}),
          image()};
}

}  // namespace

std::vector<BenchGroup> bench_groups(const std::string& word, bool whole_batches) {
  std::vector<BenchGroup> groups = all_groups(whole_batches);
  std::vector<std::string> names;
  const auto contains = [&](const std::string& name) { return name.find(word) != std::string::npos; };
  for (BenchGroup& group : groups) {
    names.push_back(group.name);
    for (const BenchCase& one : group.cases)
      if (std::find(names.begin(), names.end(), one.kernel) == names.end()) names.push_back(one.kernel);
    if (!contains(group.name)) std::erase_if(group.cases, [&](const BenchCase& one) { return !contains(one.kernel); });
  }
  std::erase_if(groups, [](const BenchGroup& group) { return group.cases.empty(); });
  if (groups.empty())
    throw Error(ErrorCode::usage, fmt::format("bench {}: no such measurement; there are machine, max, xxt, {}", word,
                                              fmt::join(names, ", ")));
  return groups;
}

}  // namespace lockstep::cli
