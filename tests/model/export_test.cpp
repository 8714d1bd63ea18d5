#include "lockstep/model/export.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/formats/safetensors.hpp"
#include "lockstep/model/onnx_graph.hpp"
#include "tests/support/example_networks.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

std::string hex(const std::vector<std::byte>& bytes) {
  static constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<int>(byte) / 16];
    text += kDigits[std::to_integer<int>(byte) % 16];
  }
  return text;
}

// The first three are the examples of the format's documentation.
TEST(Protobuf, WritesTheWireFormat) {
  EXPECT_EQ(hex(ProtobufMessage().integer(1, 150).data()), "089601");
  EXPECT_EQ(hex(ProtobufMessage().text(2, "testing").data()), "120774657374696e67");
  EXPECT_EQ(hex(ProtobufMessage().message(3, ProtobufMessage().integer(1, 150)).data()), "1a03089601");
  EXPECT_EQ(hex(ProtobufMessage().integer(1, 0).integer(1, 127).integer(1, 128).data()), "0800087f088001");
  EXPECT_EQ(hex(ProtobufMessage().integer(2, -1).data()), "10ffffffffffffffffff01");
  EXPECT_EQ(hex(ProtobufMessage().real(2, 1.0F).data()), "150000803f");
  EXPECT_EQ(hex(ProtobufMessage().integer(20, 1).data()), "a00101");
  EXPECT_EQ(hex(ProtobufMessage().text(1, "").data()), "0a00");
}

TEST(Onnx, IsAPureFunctionOfTheNetwork) {
  for (const ExampleNetwork& example : example_networks(Precision::float32)) {
    const Network copy = example.network;
    EXPECT_EQ(write_onnx(example.network), write_onnx(copy));
  }
}

TEST(Export, PlainWeightsCarryNoDescription) {
  const TemporaryFolder folder;
  const ExampleNetwork example = image_networks(Precision::float64).back();
  export_model(example.network, folder / "w.safetensors");
  const Safetensors read = read_safetensors(folder / "w.safetensors");
  ASSERT_EQ(read.metadata.size(), 2U);
  EXPECT_EQ(read.metadata.at("format"), "pt");
  EXPECT_EQ(read.metadata.at("lockstep.sha256").size(), 64U);
  ASSERT_EQ(read.tensors.size(), example.network.parameters().size());
  EXPECT_TRUE(std::ranges::any_of(read.tensors, [](const NamedArray& t) { return t.name == "2.body.1.running_var"; }));
}

TEST(Export, RefusesWhatAFormatCannotHold) {
  const TemporaryFolder folder;
  const Network network = image_networks(Precision::float32).at(0).network;
  const auto expect_refusal = [&](const std::string& name, const std::string& message) {
    try {
      export_model(network, folder / name);
      ADD_FAILURE() << name << " was written";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_EQ(std::string(error.what()), message);
    }
  };
  expect_refusal("w.pt",
                 (folder / "w.pt").string() + ": models are exported to .safetensors, .npz, .mat or .onnx files");
  expect_refusal(
      "w.mat",
      "a .mat file holds Theta1, Theta2, ... of linear layers, but layer 0 is conv2d; use .safetensors, .npz or "
      ".onnx");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

/// Layers whose weights a .mat file has no name for must not be left out of it.
TEST(Export, MatHoldsEveryWeightOrNone) {
  const TemporaryFolder folder;
  for (const LayerSpec& layer : {LayerSpec(LayerNorm{}), LayerSpec(Lstm{.hidden = 2})}) {
    Network network(std::holds_alternative<Lstm>(layer.kind) ? Shape{2, 3} : Shape{4});
    network.add(layer).add(Linear{.out = 2});
    EXPECT_THROW(export_model(network, folder / "w.mat"), Error) << layer_type(layer);
  }
}

}  // namespace
}  // namespace lockstep
