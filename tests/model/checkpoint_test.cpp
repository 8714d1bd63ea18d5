#include "lockstep/model/checkpoint.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/sha256.hpp"
#include "lockstep/data/formats/safetensors.hpp"
#include "lockstep/data/source.hpp"
#include "lockstep/model/export.hpp"
#include "tests/support/example_networks.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/train/same_state.hpp"

namespace lockstep {
namespace {

const ModelInfo kInfo{.loss = Loss::cross_entropy, .source = "digits \xc3\xa9", .class_names = {"a", "b"}};
const RunRecord kRun{.config = "[data]\nsource = \"moons\"\n",
                     .data_digest = std::string(64, 'a'),
                     .metrics_bytes = 412,
                     .metrics_sha256 = std::string(64, '0'),
                     .timings_bytes = 99};

template <class T>
AlignedBuffer<T> waves(std::int64_t size, double start) {
  AlignedBuffer<T> values(size);
  for (std::int64_t i = 0; i < size; ++i) values[i] = static_cast<T>(std::sin(start + double(i)));
  return values;
}

/// A state with no usual number in it; `vectors` of the optimiser.
TrainingState state_of(const Network& network, int vectors) {
  TrainingState state{.epoch = 3, .batch = 7, .steps = 97, .loss_sum = 0.1 + 0.2, .samples = 700, .rate = 1e-3 / 3};
  if (vectors != 1) state.correct = 655;
  if (vectors != 0) state.first_loss = 1.0 / 3;
  state.parameters = network.values();
  std::visit(
      [&](const auto& values) {
        using T = std::decay_t<decltype(values[0])>;
        state.first = waves<T>(vectors >= 1 ? network.trainable_count() : 0, 1);
        state.second = waves<T>(vectors >= 2 ? network.trainable_count() : 0, 2);
      },
      network.values());
  return state;
}

Network small_network() {
  Network network({2});
  network.add(Linear{.out = 2});
  return network;
}

std::vector<std::byte> small_checkpoint() {
  const Network network = small_network();
  return write_checkpoint(network, kInfo, state_of(network, 1), kRun);
}

std::string refusal(std::span<const std::byte> bytes) {
  try {
    parse_checkpoint(bytes, "run/checkpoint-97.safetensors");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::checkpoint) << error.what();
    std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_TRUE(message.starts_with("run/checkpoint-97.safetensors: ")) << message;
    return message;
  }
  return "";
}

/// Makes the last 32 bytes right again, so that what is wrong inside is met.
void seal(std::vector<std::byte>& bytes) {
  Sha256 sha;
  sha.update(std::span(bytes).first(bytes.size() - 32));
  const Sha256Digest total = sha.finish();
  std::memcpy(bytes.data() + bytes.size() - 32, total.data(), 32);
}

/// A sealed checkpoint whose contents were changed before writing.
template <class Change>
std::vector<std::byte> changed_checkpoint(const Change& change) {
  Safetensors contents = parse_safetensors(small_checkpoint(), "memory");
  change(contents);
  std::vector<std::byte> bytes = write_safetensors(contents);
  seal(bytes);
  return bytes;
}

std::vector<std::byte> with_record(const std::string& from, const std::string& to) {
  return changed_checkpoint([&](Safetensors& contents) {
    std::string& record = contents.metadata.at("lockstep.checkpoint");
    const auto at = record.find(from);
    ASSERT_NE(at, std::string::npos) << from << " in " << record;
    record.replace(at, from.size(), to);
  });
}

TEST(Checkpoint, GivesBackEverything) {
  for (const Precision precision : {Precision::float32, Precision::float64})
    for (const ExampleNetwork& example : example_networks(precision))
      for (const int vectors : {0, 1, 2}) {
        SCOPED_TRACE(example.name);
        TrainingState state = state_of(example.network, vectors);
        if (vectors == 2) state.carried = state.second;
        const auto bytes = write_checkpoint(example.network, kInfo, state, kRun);
        const Checkpoint read = parse_checkpoint(bytes, "memory");
        expect_same(read.state, state);
        EXPECT_EQ(read.run, kRun);
        EXPECT_EQ(read.model.info, kInfo);
        EXPECT_EQ(read.model.numerics_version, kNumericsVersion);
        EXPECT_EQ(write_checkpoint(read.model.network, read.model.info, read.state, read.run), bytes);
      }
}

TEST(Checkpoint, KeepsTheBitsOfItsSums) {
  const Network network = small_network();
  TrainingState state = state_of(network, 2);
  for (const double value : {-0.0, 5e-324, 1e308, std::numeric_limits<double>::infinity()}) {
    state.loss_sum = value;
    state.rate = -value;
    expect_same(parse_checkpoint(write_checkpoint(network, {}, state, kRun), "memory").state, state);
  }
}

// The weights are those of the state, not those the network has by now.
TEST(Checkpoint, IsWrittenWhileTheNetworkGoesOn) {
  Network network = small_network();
  const TrainingState state = state_of(network, 2);
  const auto bytes = write_checkpoint(network, kInfo, state, kRun);
  network.initialise(99);
  EXPECT_EQ(write_checkpoint(network, kInfo, state, kRun), bytes);
}

TEST(Checkpoint, IsAModelToo) {
  const TemporaryFolder folder;
  const Network network = small_network();
  const TrainingState state = state_of(network, 2);
  const auto bytes = write_checkpoint(network, kInfo, state, kRun);
  const Model model = parse_model(bytes, "memory");
  EXPECT_EQ(weight_hash(model.network.values()), weight_hash(network.values()));
  EXPECT_EQ(model.info, kInfo);
  write_file_atomically(folder / "c.safetensors", bytes);
  Network other = small_network();
  other.initialise(5);
  load_weights(folder / "c.safetensors", other);
  EXPECT_EQ(weight_hash(other.values()), weight_hash(network.values()));
}

TEST(Checkpoint, EndsWithTheHashOfAllBeforeIt) {
  const auto bytes = small_checkpoint();
  const std::string total = sha256_hex(std::span(bytes).first(bytes.size() - 32));
  EXPECT_EQ(total, to_hex({reinterpret_cast<const std::uint8_t*>(bytes.data()) + bytes.size() - 32, 32}));
  EXPECT_EQ(parse_safetensors(bytes, "memory").tensors.back().name, "checkpoint.sha256");
}

TEST(Checkpoint, NoFlippedBitIsAccepted) {
  std::vector<std::byte> bytes = small_checkpoint();
  ASSERT_EQ(refusal(bytes), "");
  ASSERT_LT(bytes.size(), 4000U) << "every bit of it is flipped below";
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (unsigned bit = 0; bit < 8; ++bit) {
      bytes[i] ^= static_cast<std::byte>(1U << bit);
      ASSERT_NE(refusal(bytes), "") << "byte " << i << ", bit " << bit;
      bytes[i] ^= static_cast<std::byte>(1U << bit);
    }
}

TEST(Checkpoint, TruncationAndSurplusAreRefused) {
  std::vector<std::byte> bytes = small_checkpoint();
  for (std::size_t size = 0; size < bytes.size(); ++size)
    ASSERT_NE(refusal(std::span(bytes).first(size)), "") << size << " bytes";
  bytes.push_back(std::byte{0});
  EXPECT_NE(refusal(bytes), "");
}

// Missing pages in the middle read as zeros.
TEST(Checkpoint, NoHoleIsAccepted) {
  const std::vector<std::byte> whole = small_checkpoint();
  for (std::size_t from = 0; from + 16 <= whole.size(); from += 16) {
    std::vector<std::byte> bytes = whole;
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), 16, std::byte{0});
    ASSERT_NE(refusal(bytes), "") << from;
  }
}

TEST(Checkpoint, NamesWhatIsDamaged) {
  const auto damaged_at = [](std::size_t from_end) {
    std::vector<std::byte> bytes = small_checkpoint();
    bytes[bytes.size() - from_end] ^= std::byte{4};
    return refusal(bytes);
  };
  // From the end: the total 32, optimizer.first 24, 0.bias 8, 0.weight 16.
  EXPECT_NE(damaged_at(1).find("the header or the last 32 bytes"), std::string::npos);
  EXPECT_NE(damaged_at(33).find("damaged: optimizer.first does"), std::string::npos);
  EXPECT_NE(damaged_at(32 + 24 + 1).find("damaged: 0.bias does"), std::string::npos);
  EXPECT_NE(damaged_at(32 + 24 + 8 + 16).find("damaged: 0.weight does"), std::string::npos);
}

TEST(Checkpoint, OtherFilesAreRefused) {
  const Network network = small_network();
  EXPECT_NE(refusal(write_model(network, kInfo)).find("is no checkpoint"), std::string::npos);
  const auto bare = changed_checkpoint([](Safetensors& c) { c.metadata.erase("lockstep.config"); });
  EXPECT_NE(refusal(bare).find("lockstep.config is missing"), std::string::npos);
  const auto nameless = changed_checkpoint([](Safetensors& c) { c.metadata.erase("lockstep.model"); });
  EXPECT_NE(refusal(nameless).find("no lockstep.model in the metadata"), std::string::npos);
  const auto moved = changed_checkpoint([](Safetensors& c) { std::swap(c.tensors[0], c.tensors.back()); });
  EXPECT_NE(refusal(moved).find("is no checkpoint"), std::string::npos);
}

TEST(Checkpoint, WrongRecordsAreRefusedByContent) {
  EXPECT_EQ(refusal(with_record("\"step\":97", "\"step\":98")), "");
  EXPECT_NE(refusal(with_record("\"step\":97", "\"step\":-1")).find("step is no count"), std::string::npos);
  EXPECT_NE(refusal(with_record("\"step\":97", "\"step\":1.5")).find("step is no count"), std::string::npos);
  EXPECT_NE(refusal(with_record("\"step\"", "\"stop\"")).find("step is missing"), std::string::npos);
  EXPECT_NE(refusal(with_record("\"batch\":7", "\"batch\":\"7\"")).find("batch is no count"), std::string::npos);
  EXPECT_NE(refusal(with_record("\"rate\":\"3", "\"rate\":\"g")).find("rate is not 16"), std::string::npos);
  EXPECT_NE(refusal(with_record("\"data_sha256\":\"a", "\"data_sha256\":\"")).find("data_sha256 is no SHA-256"),
            std::string::npos);
  EXPECT_NE(refusal(with_record("{\"bytes\":412", "{\"bytes\":null")).find("lockstep.checkpoint.metrics: bytes"),
            std::string::npos);
  EXPECT_NE(refusal(with_record("{\"step\"", "[{\"step\"")).find("lockstep.checkpoint"), std::string::npos);
  EXPECT_NE(refusal(with_record("\"0.bias\"", "\"0.bios\"")).find("0.bias does not have"), std::string::npos);
}

TEST(Checkpoint, OtherOptimizersAreRefused) {
  const Network network = small_network();
  TrainingState state = state_of(network, 2);
  state.second = AlignedBuffer<float>(5);
  EXPECT_NE(refusal(write_checkpoint(network, kInfo, state, kRun)).find("optimizer.second is float32 [5], the network"),
            std::string::npos);
  state.second = AlignedBuffer<double>(6);
  EXPECT_NE(refusal(write_checkpoint(network, kInfo, state, kRun)).find("optimizer.second is float64 [6], the network"),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep
