#include "lockstep/model/model_file.hpp"

#include <string>

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/version.hpp"
#include "lockstep/data/formats/safetensors.hpp"
#include "lockstep/train/trainer.hpp"
#include "tests/support/example_networks.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

const ModelInfo kInfo{.loss = Loss::binary_cross_entropy,
                      .source = "digits \"quoted\" \xc3\xa9",
                      .preparation = DataConfig{.label_column = "0", .resize = {.size = 20}},
                      .source_shape = {1, 28, 28},
                      .pictures = true,
                      .scale = {1.0 / 255, 0.1},
                      .offset = {-0.5, 1e-300},
                      .white = 255,
                      .class_names = {"shirt", "coat, long"}};

std::string refusal(std::span<const std::byte> bytes) {
  try {
    parse_model(bytes, "model.safetensors");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::checkpoint) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  ADD_FAILURE() << "was accepted";
  return "";
}

Network small_network() {
  Network network({3});
  network.add(Linear{.out = 2}).add(Relu{});
  return network;
}

/// The bytes of a model whose contents were changed before writing.
template <class Change>
std::vector<std::byte> changed_model(const Change& change) {
  Safetensors contents = parse_safetensors(write_model(small_network(), kInfo), "memory");
  change(contents);
  return write_sealed(std::move(contents));
}

TEST(ModelFile, GivesBackNetworkAndInfo) {
  const TemporaryFolder folder;
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    for (const ExampleNetwork& example : example_networks(precision)) {
      const auto path = folder / (example.name + ".safetensors");
      save_model(path, example.network, kInfo);
      const Model model = load_model(path);
      EXPECT_EQ(weight_hash(model.network.values()), weight_hash(example.network.values())) << example.name;
      EXPECT_EQ(model.network.precision(), precision);
      EXPECT_EQ(model.info, kInfo);
      EXPECT_EQ(model.version, version());
      EXPECT_EQ(model.numerics_version, kNumericsVersion);
      EXPECT_EQ(write_model(model.network, model.info), read_file(path, 1 << 20));
    }
  }
}

TEST(ModelFile, NeedsNoInfo) {
  const Model model = parse_model(write_model(small_network()), "memory");
  EXPECT_EQ(model.info, ModelInfo());
}

TEST(ModelFile, HoldsTheWeightsUnderTheirPlainNames) {
  const Network network = small_network();
  const Safetensors contents = parse_safetensors(write_model(network), "memory");
  ASSERT_EQ(contents.tensors.size(), 2U);
  EXPECT_EQ(contents.tensors[0].name, "0.weight");
  EXPECT_EQ(contents.tensors[0].array.dims, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(contents.tensors[0].array.as<float>()[5], network.data<float>()[5]);
  EXPECT_EQ(contents.tensors[1].name, "0.bias");
  EXPECT_EQ(contents.metadata.at("lockstep.weight_hash"), weight_hash(network.values()));
}

// One flipped bit in any byte of the weights is noticed.
TEST(ModelFile, NoticesEveryDamagedWeight) {
  const std::vector<std::byte> good = write_model(small_network(), kInfo);
  const std::size_t weight_bytes = 8 * 4;
  for (std::size_t i = good.size() - weight_bytes; i < good.size(); ++i) {
    std::vector<std::byte> bad = good;
    bad[i] ^= std::byte{1};
    EXPECT_NE(refusal(bad).find("damaged or edited"), std::string::npos);
  }
  const auto other = changed_model([](Safetensors& contents) { contents.tensors[0].array.bytes[0] ^= std::byte{1}; });
  EXPECT_NE(refusal(other).find("the weights have the hash"), std::string::npos);
}

TEST(ModelFile, NoticesEveryTruncation) {
  const std::vector<std::byte> good = write_model(small_network(), kInfo);
  for (std::size_t size = 0; size < good.size(); ++size) refusal(std::span(good).first(size));
}

TEST(ModelFile, SaysWhatIsMissingOrWrong) {
  const auto without = [](const char* key) {
    return changed_model([&](Safetensors& contents) { contents.metadata.erase(key); });
  };
  const std::string missing =
      " in the metadata: the file holds weights but does not describe a Lockstep model; it can serve as initial "
      "weights "
      "(model.init)";
  for (const char* key : {"lockstep.model", "lockstep.version", "lockstep.numerics_version", "lockstep.weight_hash"})
    EXPECT_EQ(refusal(without(key)), std::string("model.safetensors: no ") + key + missing);

  const auto with = [](const std::string& key, const std::string& value) {
    return refusal(changed_model([&](Safetensors& contents) { contents.metadata[key] = value; }));
  };
  EXPECT_EQ(with("lockstep.numerics_version", "one"),
            "model.safetensors: lockstep.numerics_version is not a positive number");
  EXPECT_EQ(with("lockstep.loss", "hinge"), R"(model.safetensors: lockstep.loss: the loss "hinge" is unknown)");
  EXPECT_EQ(with("lockstep.data", "[]"), "model.safetensors: lockstep.data: an object was expected");
  EXPECT_EQ(with("lockstep.data", "{"), "model.safetensors: lockstep.data: byte 1: not JSON here");
  EXPECT_EQ(with("lockstep.data", R"({"scale":"x"})"), "model.safetensors: lockstep.data: scale has the wrong type");
  EXPECT_EQ(with("lockstep.data", R"({"scale":[1]})"), "model.safetensors: lockstep.data: 1 scales but 0 offsets");
  EXPECT_EQ(with("lockstep.model", "{}"), R"(model.safetensors: lockstep.model: "precision" is missing)");
}

// The description claims far more than the file holds: refused before any memory is taken for it.
TEST(ModelFile, NeverAllocatesWhatTheFileDoesNotHold) {
  const std::vector<std::byte> bytes = changed_model([](Safetensors& contents) {
    contents.metadata["lockstep.model"] =
        R"({"input":[1000000],"precision":"float32","layers":[{"linear":{"out":1000000,"bias":true}}]})";
  });
  EXPECT_EQ(refusal(bytes),
            "model.safetensors: the weights: 0.weight is [2,3] in the file but [1000000,1000000] in the network");
}

TEST(ModelFile, AMissingFileIsAnUnusableModel) {
  const TemporaryFolder folder;
  try {
    load_model(folder / "absent.safetensors");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::checkpoint);
    EXPECT_EQ(std::string(error.what()),
              (folder / "absent.safetensors").string() + ": cannot open: No such file or directory");
  }
}

TEST(ModelFile, IsNotWrittenOfWeightsThatAreNotFinite) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    Network network = small_network();
    network.data<float>()[7] = bad;
    try {
      write_model(network);
      ADD_FAILURE() << "was written";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::diverged);
    }
  }
}

TEST(ModelInfo, RefusesNumbersThatTextCannotHold) {
  EXPECT_THROW(info_to_metadata({.scale = {1.0}, .offset = {}}), Error);
  EXPECT_THROW(info_to_metadata({.scale = {std::numeric_limits<double>::infinity()}, .offset = {0.0}}), Error);
}

// A folder name may hold bytes that are not UTF-8; the model must still be written and read.
TEST(ModelInfo, ReplacesWhatIsNotText) {
  const Model model = parse_model(write_model(small_network(), {.class_names = {"caf\xe9"}}), "memory");
  EXPECT_EQ(model.info.class_names.at(0), "caf\xef\xbf\xbd");
}

}  // namespace
}  // namespace lockstep
