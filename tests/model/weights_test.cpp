#include "lockstep/model/weights.hpp"

#include <string>

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/data/formats/mat5.hpp"
#include "lockstep/model/export.hpp"
#include "lockstep/model/theta.hpp"
#include "tests/support/example_networks.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

template <class Action>
void expect_error(ErrorCode code, const std::string& message, const Action& action) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown, expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code));
    EXPECT_EQ(std::string(error.what()), message);
  }
}

Network mlp(Precision precision = Precision::float32) {
  Network network({3}, precision);
  network.add(Linear{.out = 2}).add(Sigmoid{}).add(Linear{.out = 4, .bias = false});
  stir(network);
  return network;
}

TEST(Weights, EveryFormatGivesBackTheSameBits) {
  const TemporaryFolder folder;
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    for (ExampleNetwork& example : example_networks(precision)) {
      for (const char* name : {"w.safetensors", "w.npz", "w.mat"}) {
        if (std::string(name) == "w.mat" && example.network.input().rank() > 1 && example.name != "image_input")
          continue;
        export_model(example.network, folder / name);
        Network other = example.network;
        other.initialise(99);
        ASSERT_NE(weight_hash(other.values()), weight_hash(example.network.values()));
        load_weights(folder / name, other);
        EXPECT_EQ(weight_hash(other.values()), weight_hash(example.network.values())) << example.name << " " << name;
      }
    }
  }
}

TEST(Weights, ConvertsBetweenPrecisions) {
  const TemporaryFolder folder;
  const Network single = mlp();
  Network wide = mlp(Precision::float64);
  export_model(single, folder / "w.npz");
  load_weights(folder / "w.npz", wide);
  for (std::int64_t i = 0; i < single.parameter_count(); ++i)
    EXPECT_EQ(wide.data<double>()[i], double(single.data<float>()[i]));
  export_model(mlp(Precision::float64), folder / "w.safetensors");
  Network rounded = mlp();
  load_weights(folder / "w.safetensors", rounded);
  const Network exact = mlp(Precision::float64);
  for (std::int64_t i = 0; i < exact.parameter_count(); ++i)
    EXPECT_EQ(rounded.data<float>()[i], float(exact.data<double>()[i]));
}

TEST(Weights, NamesTheFirstMismatch) {
  Network network = mlp();
  const std::string hash = weight_hash(network.values());
  const std::vector<NamedArray> good = named_weights(network);
  const auto expect_refusal = [&](const std::vector<NamedArray>& arrays, const std::string& message) {
    expect_error(ErrorCode::data, "w.npz: " + message, [&] { set_weights(network, arrays, "w.npz"); });
    EXPECT_EQ(weight_hash(network.values()), hash) << "a refused file changed the network";
  };

  std::vector<NamedArray> arrays = good;
  arrays.erase(arrays.begin() + 1);
  expect_refusal(arrays, "0.bias [2] of the network is missing; the file holds 0.weight [2,3], 2.weight [4,2]");
  expect_refusal({}, "0.weight [2,3] of the network is missing; the file holds no array");
  arrays = good;
  arrays[2].array.dims = {2, 4};
  expect_refusal(arrays, "2.weight is [2,4] in the file but [4,2] in the network");
  arrays = good;
  arrays[1].array = make_array(ElementType::int64, {2});
  expect_refusal(arrays, "0.bias is int64 [2]; weights are float32 or float64");
  arrays = good;
  arrays.push_back({"2.bias", make_array(ElementType::float32, {4})});
  expect_refusal(arrays, "2.bias [4] has no place in the network");
  arrays = good;
  arrays.push_back(good[0]);
  expect_refusal(arrays, "0.weight stands there twice");
}

TEST(Weights, TakesThePyTorchStateOfBatchNormalisation) {
  Network network({2});
  network.add(BatchNorm{});
  std::vector<NamedArray> arrays = named_weights(network);
  arrays.push_back({"0.num_batches_tracked", make_array(ElementType::int64, {})});
  EXPECT_NO_THROW(set_weights(network, arrays, "w"));
}

TEST(Weights, RefusesOtherKindsOfFiles) {
  Network network = mlp();
  expect_error(ErrorCode::usage, "weights.h5: weights are read from .safetensors, .npz, .pt, .pth, .mat or .onnx files",
               [&] { load_weights("weights.h5", network); });
}

TEST(Thetas, PutTheBiasIntoColumnZero) {
  const Network network = mlp();
  const std::vector<NamedArray> arrays = thetas(network);
  ASSERT_EQ(arrays.size(), 2U);
  EXPECT_EQ(arrays[0].name, "Theta1");
  EXPECT_EQ(arrays[0].array.dims, (std::vector<std::int64_t>{2, 4}));
  const float* values = network.data<float>();
  const std::vector<ParameterInfo>& infos = network.parameters();
  EXPECT_EQ(arrays[0].array.value(4), double(values[infos[1].offset + 1]));      // row 1: the bias
  EXPECT_EQ(arrays[0].array.value(7), double(values[infos[0].offset + 3 + 2]));  // its last weight
  EXPECT_EQ(arrays[1].array.dims, (std::vector<std::int64_t>{4, 3}));
  EXPECT_EQ(arrays[1].array.value(3), 0.0);  // no bias: zeros
}

TEST(Thetas, RowsOfTheLastLayerFollowTheLabels) {
  const auto first_column = [](const Network& network, std::optional<LabelRule> rule) {
    const Array theta = thetas(network, rule).back().array;
    std::vector<double> biases;
    for (std::int64_t row = 0; row < theta.dims[0]; ++row) biases.push_back(theta.value(row * theta.dims[1]));
    return biases;
  };
  const auto counting = [](std::int64_t outputs) {
    Network network = Network::from_sizes({3, outputs, outputs}, Sigmoid{}, Sigmoid{}, Precision::float64);
    for (const ParameterInfo& info : network.parameters())
      if (info.name == "2.bias")
        for (std::int64_t k = 0; k < outputs; ++k) network.data<double>()[info.offset + k] = static_cast<double>(k);
    return network;
  };
  const Network ten = counting(10), four = counting(4);
  EXPECT_EQ(first_column(ten, std::nullopt), (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 0}))
      << "10 is the digit 0";
  EXPECT_EQ(first_column(ten, LabelRule::from_one), (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(first_column(ten, LabelRule::as_stored), (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(first_column(four, std::nullopt), (std::vector<double>{0, 1, 2, 3}));
  expect_error(ErrorCode::usage, "label_rule = \"digits\" is for 10 classes, but Theta2 of the network has 4 rows",
               [&] { thetas(four, LabelRule::digits); });
  for (const auto rule : {std::optional<LabelRule>{}, std::optional(LabelRule::as_stored)}) {
    Network back = Network::from_sizes({3, 10, 10}, Sigmoid{}, Sigmoid{}, Precision::float64);
    set_thetas(back, thetas(ten, rule), "w.mat", rule);
    EXPECT_EQ(first_column(back, LabelRule::as_stored), first_column(ten, LabelRule::as_stored));
  }
}

TEST(Thetas, NamesTheFirstMismatch) {
  Network network = mlp();
  const std::vector<NamedArray> good = thetas(network);
  const auto expect_refusal = [&](const std::vector<NamedArray>& arrays, const std::string& message) {
    expect_error(ErrorCode::data, "w.mat: " + message, [&] { set_thetas(network, arrays, "w.mat"); });
  };
  expect_refusal({good[0]}, "Theta2 [4,3] of the network is missing");
  std::vector<NamedArray> arrays = good;
  arrays[0].array.dims = {4, 2};
  expect_refusal(arrays, "Theta1 is [4,2] in the file but [2,4] in the network (the bias is column 0)");
  arrays = good;
  arrays.push_back({"Theta3", make_array(ElementType::float64, {1, 1})});
  expect_refusal(arrays, "Theta3 has no place in the network of 2 linear layers");
  arrays = good;
  arrays[1].array.as<double>()[3] = 0.5;
  expect_refusal(arrays, "Theta2 has a bias in row 1, but its layer has none");
  arrays = good;
  arrays.push_back({"X", make_array(ElementType::float64, {5, 5})});
  EXPECT_NO_THROW(set_thetas(network, arrays, "w.mat"));
}

TEST(Thetas, NeedALinearNetwork) {
  Network network({1, 4, 4});
  network.add(Conv2d{.out = 2, .kernel = 3});
  expect_error(
      ErrorCode::usage,
      "a .mat file holds Theta1, Theta2, ... of linear layers, but layer 0 is conv2d; use .safetensors, .npz or "
      ".onnx",
      [&] { thetas(network); });
  Network empty({3});
  empty.add(Relu{});
  expect_error(ErrorCode::usage, "a .mat file holds the weights of linear layers; the network has none",
               [&] { thetas(empty); });
}

// The weights that come with the exercise data of the course.
TEST(Thetas, ReadTheWeightsOfTheCourse) {
  const std::filesystem::path path = std::filesystem::path(LOCKSTEP_TEST_DATA) / "coursera/ex4weights.mat";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "there is no " << path;
  Network network = Network::from_sizes({400, 25, 10}, Sigmoid{}, Sigmoid{}, Precision::float64);
  load_weights(path, network);
  const std::vector<NamedArray> file = read_mat5(path), ours = thetas(network);
  ASSERT_EQ(file.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(ours[i].name, file[i].name);
    EXPECT_EQ(ours[i].array.bytes, file[i].array.bytes);
  }
}

}  // namespace
}  // namespace lockstep
