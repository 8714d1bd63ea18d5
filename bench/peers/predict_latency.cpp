// predict_latency NETWORK THREADS FILE.onnx [BATCH [BACKEND]]: BATCH samples at a time (1) through a network with fresh
// weights, as the contender of onnx_latency.py. Writes the network to FILE.onnx and says `{"ready": ...}`; then answers
// each line of standard input by one line of JSON: `run N` with the seconds per call of N calls, `outputs` with the
// outputs.

#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/version.hpp"
#include "lockstep/lockstep.hpp"
#include "lockstep/model/export.hpp"

namespace {

using namespace lockstep;

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

/// As workloads.py, resnet: 16, 32 and 64 channels, three blocks each.
Network resnet20() {
  const auto norm = [] { return LayerSpec{BatchNorm{}}; };
  const auto conv = [](std::int64_t out, std::int64_t kernel, std::int64_t stride) {
    return LayerSpec{Conv2d{.out = out, .kernel = kernel, .stride = stride, .pad = kernel / 2}};
  };
  Network net({3, 32, 32});
  net.add(conv(16, 3, 1)).add(BatchNorm{}).add(Relu{});
  for (const std::int64_t channels : {16, 32, 64})
    for (int block = 0; block < 3; ++block) {
      const std::int64_t stride = block == 0 && channels > 16 ? 2 : 1;
      Residual residual{.body = {conv(channels, 3, stride), norm(), Relu{}, conv(channels, 3, 1), norm()}};
      if (stride > 1) residual.shortcut = {conv(channels, 1, stride), norm()};
      net.add(residual).add(Relu{});
    }
  net.add(AvgPool2d{.window = 8}).add(Flatten{}).add(Linear{.out = 10});
  return net;
}

Network network_of(const std::string& name) {
  if (name == "mlp-784-128-10") return Network::from_sizes({784, 128, 10}, Relu{}, {});
  if (name == "lenet5") return lenet5();
  if (name == "bn-cnn") return bn_cnn();
  if (name == "resnet20") return resnet20();
  throw Error(ErrorCode::usage, fmt::format("no network {}; there are mlp-784-128-10, lenet5, bn-cnn, resnet20", name));
}

Backend backend_of(const std::string& name) {
  const auto& names = backend_names();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<Backend>(i);
  throw Error(ErrorCode::usage, fmt::format("no backend {}; there are {}", name, fmt::join(names, ", ")));
}

/// workloads.py, scrambled: numbers in [-0.5, 0.5).
std::vector<float> scrambled(std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits = static_cast<std::uint32_t>(static_cast<std::uint64_t>(i) * 2654435761U);
    values.push_back(static_cast<float>(bits >> 8) / 16777216.0F - 0.5F);
  }
  return values;
}

double seconds_per_call(Predictor& predictor, const std::vector<float>& x, std::vector<float>& y, std::int64_t calls) {
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < calls; ++i) predictor.run(std::span(x), std::span(y));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / static_cast<double>(calls);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 4) throw Error(ErrorCode::usage, "usage: predict_latency NETWORK THREADS FILE.onnx [BATCH [BACKEND]]");
    const Network network = network_of(argv[1]);
    export_model(network, argv[3]);
    Predictor predictor(network, {.backend = backend_of(argc > 5 ? argv[5] : "simd"), .threads = std::stoi(argv[2])});
    const std::int64_t batch = argc > 4 ? std::stoll(argv[4]) : 1;
    const std::vector<float> x = scrambled(batch * network.input().elements());
    std::vector<float> y(static_cast<std::size_t>(batch * network.output().elements()));
    predictor.run(std::span(x), std::span(y));
    fmt::print("{{\"ready\": \"lockstep {}\"}}\n", version());
    std::fflush(stdout);
    for (std::string command; std::getline(std::cin, command);) {
      if (command.starts_with("run "))
        fmt::print("{{\"seconds\": {}}}\n", seconds_per_call(predictor, x, y, std::stoll(command.substr(4))));
      else
        fmt::print("{{\"outputs\": [{}]}}\n", fmt::join(y, ", "));
      std::fflush(stdout);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "predict_latency: %s\n", error.what());
    return 2;
  }
}
