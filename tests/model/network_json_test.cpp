#include "lockstep/model/network_json.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"
#include "tests/support/example_networks.hpp"

namespace lockstep {
namespace {

std::string refusal(const std::string& text) {
  try {
    network_from_json(text, "lockstep.model");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::checkpoint) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  ADD_FAILURE() << "was accepted: " << text;
  return "";
}

std::string network_of(const std::string& layers) {
  return R"({"input":[1,8,8],"precision":"float32","layers":[)" + layers + "]}";
}

/// Layers of text models, which the exports of the examples do not take.
Network text_network(Precision precision) {
  Network network({6}, precision);
  network.add(Embedding{.out = 8, .vocabulary = 5}).add(Positions{}).add(Attention{.heads = 2, .causal = true});
  network.add(LayerNorm{.per_step = true}).add(Linear{.out = 5, .per_step = true});
  return network;
}

TEST(NetworkJson, GivesBackEveryLayer) {
  std::set<std::string> seen;
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    std::vector<ExampleNetwork> examples = example_networks(precision);
    examples.push_back({"text", text_network(precision)});
    for (const ExampleNetwork& example : examples) {
      const std::string text = network_to_json(example.network);
      const Network read = network_from_json(text, "memory");
      EXPECT_EQ(network_to_json(read), text);
      EXPECT_EQ(read.input(), example.network.input());
      EXPECT_EQ(read.output(), example.network.output());
      EXPECT_EQ(read.precision(), precision);
      ASSERT_EQ(read.parameters().size(), example.network.parameters().size());
      for (std::size_t i = 0; i < read.parameters().size(); ++i) {
        EXPECT_EQ(read.parameters()[i].name, example.network.parameters()[i].name);
        EXPECT_EQ(read.parameters()[i].shape, example.network.parameters()[i].shape);
        EXPECT_EQ(read.parameters()[i].offset, example.network.parameters()[i].offset);
      }
      for (const LayerSummary& line : read.summary()) seen.insert(line.type);
    }
  }
  EXPECT_EQ(seen.size(), std::variant_size_v<decltype(LayerSpec::kind)>) << "the examples lack a layer type";
}

/// Fields that came later are not written where they have their default, and not asked for: earlier versions read these
/// files, and files of earlier versions are read.
TEST(NetworkJson, LaterFieldsMayBeMissing) {
  Network network({3});
  network.add(Linear{.out = 2});
  const std::string text = network_to_json(network);
  EXPECT_EQ(text.find("per_step"), std::string::npos) << text;
  EXPECT_EQ(network_to_json(network_from_json(text, "memory")), text);
  EXPECT_NE(network_to_json(text_network(Precision::float32)).find("\"per_step\":true"), std::string::npos);
}

TEST(NetworkJson, WritesTheDocumentedText) {
  Network network({1, 6, 6});
  network.add(Conv2d{.out = 2, .kernel = {3, 5}, .pad = 1}).add(MaxPool2d{.window = 2}).add(Sigmoid{.lambda = 0.1});
  network.add(Residual{.body = {Relu{}}, .shortcut = {}});
  EXPECT_EQ(network_to_json(network),
            R"({"input":[1,6,6],"precision":"float32","layers":[{"conv2d":{"out":2,"kernel":[3,5],"stride":[1,1],)"
            R"("pad":[1,1],"dilation":[1,1],"groups":1,"bias":true}},{"max_pool2d":{"window":[2,2],"stride":[2,2],)"
            R"("pad":[0,0]}},{"sigmoid":{"lambda":0.1}},{"residual":{"body":[{"relu":{}}],"shortcut":[]}}]})");
}

TEST(NetworkJson, NamesThePlaceOfWhatIsWrong) {
  EXPECT_EQ(refusal("["), "lockstep.model: byte 1: not JSON here");
  EXPECT_EQ(refusal("[]"), "lockstep.model: an object was expected");
  EXPECT_EQ(refusal("{}"), R"(lockstep.model: "precision" is missing)");
  EXPECT_EQ(refusal(R"({"precision":"float16"})"), R"(lockstep.model.precision: "float32" or "float64" was expected)");
  EXPECT_EQ(refusal(R"({"precision":"float32","layers":[],"input":[4],"x":1})"),
            R"(lockstep.model: the key "x" is unknown)");
  EXPECT_EQ(refusal(R"({"precision":"float32","layers":[],"input":[4],"input":[5]})"),
            R"(lockstep.model: the key "input" stands twice in one object)");
  EXPECT_EQ(refusal(network_of("3")),
            "lockstep.model.layers[0]: an object with one key, the layer's type, was expected");
  EXPECT_EQ(refusal(network_of(R"({"relu":{}},{"mamba":{}})")),
            R"(lockstep.model.layers[1]: the layer type "mamba" is unknown; written by a later version?)");
  EXPECT_EQ(refusal(network_of(R"({"relu":{"slope":1}})")),
            R"(lockstep.model.layers[0].relu: the key "slope" is unknown)");
  EXPECT_EQ(refusal(network_of(R"({"linear":{"out":3}})")), R"(lockstep.model.layers[0].linear: "bias" is missing)");
  EXPECT_EQ(refusal(network_of(R"({"linear":{"out":-3,"bias":true}})")),
            "lockstep.model.layers[0].linear.out: a whole number from 0 to 2147483647 was expected");
  EXPECT_EQ(refusal(network_of(R"({"linear":{"out":3,"bias":1}})")),
            "lockstep.model.layers[0].linear.bias: true or false was expected");
  EXPECT_EQ(refusal(network_of(R"({"dropout":{"p":"x"}})")),
            "lockstep.model.layers[0].dropout.p: a number was expected");
  EXPECT_EQ(refusal(network_of(R"({"max_pool2d":{"window":[2],"stride":[2,2],"pad":[0,0]}})")),
            "lockstep.model.layers[0].max_pool2d.window: two numbers were expected");
  EXPECT_EQ(refusal(network_of(R"({"residual":{"body":{},"shortcut":[]}})")),
            "lockstep.model.layers[0].residual.body: a list of layers was expected");
}

// What the layers themselves refuse is the file's fault here, with their message.
TEST(NetworkJson, RefusesLayersThatDoNotFit) {
  EXPECT_EQ(refusal(network_of(R"({"max_pool2d":{"window":[9,9],"stride":[1,1],"pad":[0,0]}})"))
                .rfind("lockstep.model: layer 0 (max_pool2d)", 0),
            0U);
  EXPECT_EQ(refusal(network_of(R"({"linear":{"out":0,"bias":true}})")).rfind("lockstep.model: layer 0 (linear)", 0),
            0U);
  EXPECT_EQ(refusal(R"({"precision":"float32","layers":[],"input":[0]})").rfind("lockstep.model: ", 0), 0U);
}

// A description may claim any size; nothing is multiplied or allocated without a check.
TEST(NetworkJson, RefusesSizesThatNoMemoryHolds) {
  const std::string wide = R"({"linear":{"out":2147483647,"bias":true}})";
  EXPECT_EQ(refusal(network_of(wide + "," + wide)), "lockstep.model: more parameters than any memory holds");
  EXPECT_EQ(refusal(R"({"precision":"float32","input":[2147483647,2147483647,2147483647],"layers":[]})")
                .rfind("lockstep.model: shape [", 0),
            0U);
  std::string many;
  for (int i = 0; i < 40; ++i) many += R"({"linear":{"out":1000000,"bias":true}},)";
  EXPECT_EQ(refusal(network_of(many + R"({"relu":{}})")), "lockstep.model: more parameters than any memory holds");
  std::string deep = R"({"relu":{}})";
  for (int i = 0; i < 40; ++i) deep = R"({"residual":{"body":[)" + deep + R"(],"shortcut":[]}})";
  EXPECT_EQ(refusal(network_of(deep)), "lockstep.model: nested more than 64 deep");
}

}  // namespace
}  // namespace lockstep
