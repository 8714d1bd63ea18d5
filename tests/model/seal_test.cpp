// Flipped bits: none of them may go unnoticed, wherever in a model, a checkpoint or an export it is.
#include "lockstep/model/seal.hpp"

#include <random>

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/model/checkpoint.hpp"
#include "lockstep/model/export.hpp"
#include "lockstep/model/model_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

using Bytes = std::vector<std::byte>;

constexpr int kRandomFlips = 10'000;

/// With every kind of entry, and names that a flipped bit turns into an escape or a quote.
const ModelInfo kInfo{.loss = Loss::cross_entropy,
                      .source = "digits]L|\"T\\X^\"]",
                      .preparation = DataConfig{.label_column = "0", .shape = {1, 2, 2}, .scale = 255},
                      .source_shape = {4},
                      .scale = {1.0 / 255, 0.5, 0.25, 1},
                      .offset = {-0.5, 1, 2, 3},
                      .class_names = {"T]\\", "\"L|", "lockstep.sha256\":\""}};

Network network() {
  Network net({1, 2, 2});
  net.add(Conv2d{.out = 2, .kernel = 1}).add(BatchNorm{.eps = 1e-3}).add(LeakyRelu{.slope = 0.125}).add(Flatten{});
  net.add(Linear{.out = 3}).add(Softmax{});
  return net;
}

Bytes model_file() { return write_model(network(), kInfo); }

Bytes checkpoint_file() {
  const Network net = network();
  TrainingState state{.epoch = 1, .steps = 3, .first_loss = 0.25, .parameters = net.values()};
  state.first = AlignedBuffer<float>(net.trainable_count());
  state.second = AlignedBuffer<float>(0);
  return write_checkpoint(
      net, kInfo, state,
      {.config = "[data]\n", .data_digest = std::string(64, 'a'), .metrics_sha256 = std::string(64, '0')});
}

std::size_t header_end(const Bytes& bytes) {
  return 8 + static_cast<std::size_t>(safetensors_header_bytes(bytes, static_cast<std::int64_t>(bytes.size()), "m"));
}

/// Whether a reader of models takes the bytes; eval, predict, export and inspect go this way.
bool is_read(const Bytes& bytes) {
  try {
    parse_model(bytes, "model.safetensors");
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::checkpoint) << error.what();
    return false;
  }
}

/// The same for initial weights.
bool weights_are_read(const Bytes& bytes) {
  try {
    return parse_sealed(bytes, "w.safetensors").seal == Seal::whole;
  } catch (const Error&) {
    return false;
  }
}

template <class Reader>
void flip_and_expect_refusal(Bytes bytes, std::size_t bit, const Reader& reader) {
  bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
  ASSERT_FALSE(reader(bytes)) << "byte " << bit / 8 << ", bit " << bit % 8;
}

TEST(Seal, NoBitOfAModelsHeaderFlipsUnnoticed) {
  const Bytes good = model_file();
  ASSERT_TRUE(is_read(good));
  for (std::size_t bit = 0; bit < 8 * header_end(good); ++bit) flip_and_expect_refusal(good, bit, is_read);
}

TEST(Seal, NoBitOfACheckpointsHeaderFlipsUnnoticed) {
  const Bytes good = checkpoint_file();
  ASSERT_TRUE(is_read(good));
  for (std::size_t bit = 0; bit < 8 * header_end(good); ++bit) flip_and_expect_refusal(good, bit, is_read);
}

TEST(Seal, NoneOfManyRandomFlipsGoesUnnoticed) {
  std::mt19937_64 random(7);
  for (const Bytes& good : {model_file(), checkpoint_file()})
    for (int i = 0; i < kRandomFlips; ++i) {
      flip_and_expect_refusal(good, random() % (8 * good.size()), is_read);
      flip_and_expect_refusal(good, random() % (8 * good.size()), weights_are_read);
    }
}

TEST(Seal, NoBitOfAnExportFlipsUnnoticed) {
  const TemporaryFolder folder;
  export_model(network(), folder / "w.safetensors");
  const Bytes good = read_file(folder / "w.safetensors", 1 << 20);
  ASSERT_TRUE(weights_are_read(good));
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) flip_and_expect_refusal(good, bit, weights_are_read);
}

// Several bits at once: a page of another file, a torn write.
TEST(Seal, NoStretchOfZerosGoesUnnoticed) {
  for (const Bytes& good : {model_file(), checkpoint_file()})
    for (std::size_t at = 0; at + 16 <= good.size(); at += 16) {
      Bytes bad = good;
      std::fill_n(bad.begin() + static_cast<std::ptrdiff_t>(at), 16, std::byte{0});
      if (bad == good) continue;
      ASSERT_FALSE(is_read(bad)) << at;
    }
}

/// The contents of a model without its digest.
Safetensors unsealed() {
  Safetensors contents = parse_safetensors(model_file(), "memory");
  contents.metadata.erase(kDigestKey);
  return contents;
}

TEST(Seal, AModelOfAnEarlierVersionIsUnverified) {
  const Model model = parse_model(write_safetensors(unsealed()), "old.safetensors");
  EXPECT_EQ(model.seal, Seal::weights);
  EXPECT_EQ(weight_hash(model.network.values()), weight_hash(network().values()));
  EXPECT_EQ(parse_model(model_file(), "new.safetensors").seal, Seal::whole);
  EXPECT_EQ(parse_model(checkpoint_file(), "checkpoint.safetensors").seal, Seal::whole);
}

TEST(Seal, AFileOfAnotherProgramIsUnverified) {
  Safetensors contents = unsealed();
  contents.metadata = {{"format", "pt"}};
  EXPECT_EQ(parse_sealed(write_safetensors(contents), "theirs.safetensors").seal, Seal::none);
  contents.metadata.clear();
  EXPECT_EQ(parse_sealed(write_safetensors(contents), "theirs.safetensors").seal, Seal::none);
}

TEST(Seal, MarksOfLockstepWithoutADigestAreDamage) {
  for (const char* renamed : {"lockstep.sha257", "mockstep.sha256", "lockstep.shb256", "other"}) {
    Safetensors contents = unsealed();
    contents.metadata[renamed] = std::string(64, 'a');
    EXPECT_FALSE(is_read(write_safetensors(contents))) << renamed;
  }
  Safetensors no_hash = unsealed();
  no_hash.metadata.erase("lockstep.weight_hash");
  EXPECT_FALSE(is_read(write_safetensors(no_hash)));
  Safetensors torn = parse_safetensors(checkpoint_file(), "memory");
  torn.metadata.erase("lockstep.checkpoint");
  torn.tensors.pop_back();
  EXPECT_FALSE(is_read(write_with_total(torn)));
}

TEST(Seal, SaysWhatToDo) {
  Bytes bad = model_file();
  bad.back() ^= std::byte{1};
  try {
    parse_model(bad, "m.safetensors");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "m.safetensors: damaged or edited: the file does not have the SHA-256 that was written "
                 "with it; take another copy of it");
  }
}

}  // namespace
}  // namespace lockstep
