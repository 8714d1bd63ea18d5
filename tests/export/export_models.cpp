// What the Python checks of this folder look at.
//   export_models write FOLDER             every example network in every format, with samples and its outputs for
//   them:
//                                          NAME.PRECISION.{onnx,safetensors,npz,mat}, .model.safetensors, .x.npy,
//                                          .y.npy
//   export_models read NAME PRECISION IN OUT.npz   weights of a file that Python wrote, into the network, out again

#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "lockstep/core/file.hpp"
#include "lockstep/data/formats/npy.hpp"
#include "lockstep/data/memory_dataset.hpp"
#include "lockstep/model/export.hpp"
#include "lockstep/model/model_file.hpp"
#include "lockstep/train/trainer.hpp"
#include "tests/support/example_networks.hpp"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSamples = 5;

std::vector<std::int64_t> batch_of(const Shape& sample) {
  std::vector<std::int64_t> dims{kSamples};
  dims.insert(dims.end(), sample.extents().begin(), sample.extents().end());
  return dims;
}

/// With those that read tokens.
std::vector<ExampleNetwork> all_networks(Precision precision) {
  std::vector<ExampleNetwork> all = example_networks(precision);
  Network tokens({7}, precision);
  tokens.add(Embedding{.out = 4, .vocabulary = 11}).add(Positions{.sinusoidal = true});
  tokens.add(Attention{.heads = 2, .causal = true}).add(Linear{.out = 11, .per_step = true});
  stir(tokens);
  all.push_back({"tokens", std::move(tokens)});
  return all;
}

template <class T>
Array samples_for(const Network& network) {
  std::vector<T> x(static_cast<std::size_t>(kSamples * network.input().elements()));
  const auto* embedding = std::get_if<Embedding>(&network.layers().front().kind);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = embedding != nullptr ? static_cast<T>(i * i % static_cast<std::size_t>(embedding->vocabulary))
                                : static_cast<T>(1.5 * std::sin(1.3 * double(i) + 0.2));
  return array_from<T>(batch_of(network.input()), x);
}

void write_example(const fs::path& folder, const ExampleNetwork& example) {
  const Network& network = example.network;
  const std::string stem = example.name + "." + to_string(network.precision());
  for (const char* extension : {".onnx", ".safetensors", ".npz"}) export_model(network, folder / (stem + extension));
  save_model(folder / (stem + ".model.safetensors"), network, {.class_names = {"a", "b"}});

  const Array x =
      network.precision() == Precision::float32 ? samples_for<float>(network) : samples_for<double>(network);
  write_file_atomically(folder / (stem + ".x.npy"), write_npy(x));
  const MemoryDataset data(x, network.input(), {});
  std::vector<std::int64_t> ids(kSamples);
  std::iota(ids.begin(), ids.end(), 0);
  const std::vector<double> y = predict(network, data, ids);
  write_file_atomically(folder / (stem + ".y.npy"), write_npy(array_from<double>(batch_of(network.output()), y)));
}

void write_all(const fs::path& folder) {
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    for (const ExampleNetwork& example : all_networks(precision)) write_example(folder, example);
    for (const ExampleNetwork& example : linear_networks(precision))
      export_model(example.network, folder / (example.name + "." + to_string(precision) + ".mat"));
  }
}

void read_weights(const std::string& name, const std::string& precision, const fs::path& in, const fs::path& out) {
  for (ExampleNetwork& example : all_networks(precision == "float32" ? Precision::float32 : Precision::float64)) {
    if (example.name != name) continue;
    load_weights(in, example.network);
    export_model(example.network, out);
    return;
  }
  throw std::runtime_error("no example network is called " + name);
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (arguments.size() == 2 && arguments[0] == "write") {
      lockstep::write_all(arguments[1]);
    } else if (arguments.size() == 5 && arguments[0] == "read") {
      lockstep::read_weights(arguments[1], arguments[2], arguments[3], arguments[4]);
    } else {
      std::fputs("usage: export_models write FOLDER | read NAME PRECISION IN OUT.npz\n", stderr);
      return 2;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "export_models: %s\n", error.what());
    return 1;
  }
  return 0;
}
