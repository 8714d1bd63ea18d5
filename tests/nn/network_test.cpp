#include "lockstep/nn/network.hpp"

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"

namespace lockstep {
namespace {

Network lenet() {
  Network net({1, 28, 28});
  net.add(Conv2d{.out = 6, .kernel = 5, .pad = 2}).add(Relu{}).add(MaxPool2d{.window = 2});
  net.add(Conv2d{.out = 16, .kernel = 5}).add(Relu{}).add(MaxPool2d{.window = 2}).add(Flatten{});
  return net.add(Linear{.out = 120}).add(Relu{}).add(Linear{.out = 84}).add(Relu{}).add(Linear{.out = 10});
}

TEST(Network, ShapesFollowTheLayers) {
  const Network net = lenet();
  const std::vector<Shape> expected = {{6, 28, 28}, {6, 28, 28}, {6, 14, 14}, {16, 10, 10}, {16, 10, 10}, {16, 5, 5},
                                       {400},       {120},       {120},       {84},         {84},         {10}};
  const auto lines = net.summary();
  ASSERT_EQ(lines.size(), expected.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].path, std::to_string(i));
    EXPECT_EQ(lines[i].out, expected[i]) << i << ": " << lines[i].out.str();
    EXPECT_EQ(lines[i].in, i == 0 ? net.input() : expected[i - 1]);
  }
  EXPECT_EQ(net.output(), Shape{10});
}

TEST(Network, CountsOfLeNet5) {
  const Network net = lenet();
  EXPECT_EQ(net.parameter_count(), 61706) << "the number every LeNet-5 table gives";
  EXPECT_EQ(net.trainable_count(), 61706);
  const auto lines = net.summary();
  EXPECT_EQ(lines[0].type, "conv2d");
  EXPECT_EQ(lines[0].detail, "6 of 5x5, pad 2");
  EXPECT_EQ(lines[0].parameters, 156);
  EXPECT_EQ(lines[0].flops, 2.0 * 6 * 134 * 134) << "taps in the padding do not count";
  EXPECT_EQ(lines[7].parameters, 48120);
  EXPECT_EQ(lines[6].flops, 0) << "flatten computes nothing";
}

TEST(Network, ParametersAreNamedAsInTorchSequential) {
  Network net({2, 4, 4});
  net.add(Conv2d{.out = 4, .kernel = 3, .pad = 1, .groups = 2}).add(BatchNorm{}).add(Relu{});
  net.add(Residual{.body = {Conv2d{.out = 6, .kernel = 1, .bias = false}, BatchNorm{}},
                   .shortcut = {Conv2d{.out = 6, .kernel = 1}}});
  net.add(Flatten{}).add(Linear{.out = 3});
  struct Expected {
    const char* name;
    Shape shape;
    Role role;
  };
  const std::vector<Expected> expected = {{"0.weight", {4, 1, 3, 3}, Role::weight},
                                          {"0.bias", {4}, Role::bias},
                                          {"1.weight", {4}, Role::scale},
                                          {"1.bias", {4}, Role::bias},
                                          {"3.body.0.weight", {6, 4, 1, 1}, Role::weight},
                                          {"3.body.1.weight", {6}, Role::scale},
                                          {"3.body.1.bias", {6}, Role::bias},
                                          {"3.shortcut.0.weight", {6, 4, 1, 1}, Role::weight},
                                          {"3.shortcut.0.bias", {6}, Role::bias},
                                          {"5.weight", {3, 96}, Role::weight},
                                          {"5.bias", {3}, Role::bias},
                                          {"1.running_mean", {4}, Role::running_mean},
                                          {"1.running_var", {4}, Role::running_var},
                                          {"3.body.1.running_mean", {6}, Role::running_mean},
                                          {"3.body.1.running_var", {6}, Role::running_var}};
  ASSERT_EQ(net.parameters().size(), expected.size());
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const ParameterInfo& info = net.parameters()[i];
    EXPECT_EQ(info.name, expected[i].name);
    EXPECT_EQ(info.shape, expected[i].shape) << info.name << " " << info.shape.str();
    EXPECT_EQ(info.role, expected[i].role) << info.name;
    EXPECT_EQ(info.offset, offset) << info.name << ": no gaps, trainable ones first";
    offset += info.elements();
  }
  EXPECT_EQ(net.parameter_count(), offset);
  EXPECT_EQ(net.trainable_count(), offset - 20);
}

TEST(Network, FromSizes) {
  const Network net = Network::from_sizes({784, 128, 64, 10}, Sigmoid{}, Softmax{}, Precision::float64);
  std::vector<std::string> types;
  for (const LayerSummary& line : net.summary()) types.push_back(line.type);
  EXPECT_EQ(types, (std::vector<std::string>{"linear", "sigmoid", "linear", "sigmoid", "linear", "softmax"}));
  EXPECT_EQ(net.input(), Shape{784});
  EXPECT_EQ(net.output(), Shape{10});
  EXPECT_EQ(net.precision(), Precision::float64);
  EXPECT_EQ(Network::from_sizes({4, 3, 2}, std::nullopt, std::nullopt).layers().size(), 2U);
  EXPECT_THROW(Network::from_sizes({784}, Sigmoid{}, std::nullopt), Error);
}

struct Refused {
  Shape input;
  LayerSpec layer;
  std::vector<std::string> words;  // all of them are in the message
};

TEST(Network, RefusesLayersThatDoNotFit) {
  const std::vector<Refused> cases = {
      {{8}, Conv2d{.out = 2, .kernel = 3}, {"layer 0 (conv2d)", "[channels,height,width]", "input is [8]"}},
      {{3, 8, 8}, Conv2d{.out = 4, .kernel = 3, .groups = 2}, {"groups = 2", "out = 4", "input is [3,8,8]"}},
      {{4, 8, 8}, Conv2d{.out = 3, .kernel = 3, .groups = 2}, {"groups = 2", "out = 3"}},
      {{1, 4, 4}, Conv2d{.out = 1, .kernel = 5}, {"kernel 5x5", "padded input", "[1,4,4]"}},
      {{1, 4, 4}, Conv2d{.out = 1, .kernel = 3, .dilation = 2}, {"kernel 3x3", "[1,4,4]"}},
      {{1, 4, 4}, Conv2d{.out = 0, .kernel = 3}, {"at least 1"}},
      {{1, 4, 4}, Conv2d{.out = 1, .kernel = 3, .stride = 0}, {"stride", "at least 1"}},
      {{1, 4, 4}, Conv2d{.out = 1, .kernel = 3, .pad = -1}, {"pad at least 0"}},
      {{8}, MaxPool2d{}, {"layer 0 (max_pool2d)", "[channels,height,width]", "[8]"}},
      {{1, 4, 4}, AvgPool2d{.window = 5}, {"window 5x5", "[1,4,4]"}},
      {{1, 4, 4}, MaxPool2d{.window = 3, .pad = 2}, {"half the window"}},
      {{4}, Linear{.out = 0}, {"layer 0 (linear)", "out = 0", "[4]"}},
      {{4}, LeakyRelu{.slope = -1}, {"slope"}},
      {{4}, Sigmoid{.lambda = 0}, {"lambda"}},
      {{4}, Dropout{.p = 1}, {"below 1"}},
      {{4}, BatchNorm{.momentum = 0}, {"momentum"}},
      {{4}, BatchNorm{.eps = 0}, {"eps"}},
      {{4}, Residual{.body = {}}, {"body"}},
      {{4}, Residual{.body = {Linear{.out = 3}}}, {"body gives [3]", "shortcut gives [4]", "input is [4]"}},
      {{4}, Residual{.body = {Relu{}, MaxPool2d{}}}, {"layer 0.body.1 (max_pool2d)", "[4]"}},
  };
  for (const Refused& c : cases) {
    Network net(c.input);
    try {
      net.add(c.layer);
      ADD_FAILURE() << layer_type(c.layer) << " was accepted; expected: " << c.words.front();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      const std::string message = error.what();
      for (const std::string& word : c.words)
        EXPECT_NE(message.find(word), std::string::npos) << word << " in: " << message;
      EXPECT_EQ(message.find('\n'), std::string::npos);
    }
    EXPECT_TRUE(net.layers().empty()) << "a refused layer leaves the network as it was";
    EXPECT_EQ(net.output(), c.input);
  }
}

TEST(Network, RefusesInputsOfOtherRanks) {
  EXPECT_THROW(Network(Shape{}), Error);
  EXPECT_THROW(Network({2, 3, 4, 5}), Error);
  EXPECT_THROW(Network({1, 2, 3, 4}), Error);
  EXPECT_THROW(Network({0}), Error);
}

TEST(Network, RefusesWeightsBeforeAnEmbedding) {
  // Tokens have no gradient: weights before them were trained by what happened to be in memory.
  Network network({4});
  network.add(Flatten{}).add(Embedding{.out = 3, .vocabulary = 5});
  Network behind({4});
  behind.add(Linear{.out = 6});
  for (const LayerSpec& layer : {LayerSpec(Embedding{.out = 3, .vocabulary = 5}),
                                 LayerSpec(Residual{.body = {Embedding{.out = 1, .vocabulary = 5}, Flatten{}}})})
    try {
      behind.add(layer);
      FAIL() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_NE(std::string(error.what()).find("put it before every layer that has weights"), std::string::npos)
          << error.what();
    }
  EXPECT_EQ(behind.layers().size(), 1u);
}

TEST(Network, LinearFlattensByItself) {
  Network net({2, 3, 4});
  net.add(Linear{.out = 5});
  EXPECT_EQ(net.parameters()[0].shape, (Shape{5, 24}));
}

TEST(Network, PoolingWithoutStrideDoesNotOverlap) {
  Network net({1, 7, 9});
  net.add(MaxPool2d{.window = {2, 3}}).add(AvgPool2d{.window = 2, .stride = 1});
  EXPECT_EQ(net.summary()[0].out, (Shape{1, 3, 3}));
  EXPECT_EQ(net.output(), (Shape{1, 2, 2}));
}

}  // namespace
}  // namespace lockstep
