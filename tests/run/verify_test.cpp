// A run verified, and forged by somebody who has this library: every file consistent with the others.
#include "lockstep/run/verify.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/sha256.hpp"
#include "lockstep/model/checkpoint_store.hpp"
#include "lockstep/run/certificate.hpp"
#include "lockstep/run/directory.hpp"
#include "lockstep/run/train_run.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kAnySize = std::int64_t{1} << 30;
constexpr const char* kVerified = R"([data]
source = "moons"
count = 200
split = {train = 0.8, validation = 0.2}

[model]
input = [2]
layers = [{linear = 16}, "tanh", {linear = 2}]

[train]
batch = 20
loss = "cross-entropy"
optimizer = {name = "adam", lr = 0.01}
epochs = 4

[checkpoint]
every_minutes = 0
keep = 0
)";

class VerifyTest : public ::testing::Test {
 protected:
  VerifyTest() {
    const std::string config = (folder_ / "moons.toml").string();
    std::ofstream(config) << kVerified;
    // Stopped in the middle of epochs 2 and 3, and resumed: three checkpoints, of steps 11, 19 and 32.
    for (const std::int64_t last : {11, 19, 32}) {
      std::int64_t done = last == 11 ? 0 : last == 19 ? 11 : 19;
      const RunOptions options{
          .out = run_.string(), .resume = last != 11, .stop = [&] { return ++done == last && last != 32; }};
      try {
        train_run(config, options);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::preempted);
      }
    }
  }

  Verification verify(const VerifyOptions& options = {}) const { return verify_run(run_, options); }
  static std::string false_claims(const Verification& found) {
    std::string text;
    for (const Claim& each : found.claims)
      if (!each.holds) text += each.what + ": " + each.detail + "\n";
    return text;
  }
  std::string text(const char* name) const { return read_text(run_ / name, kAnySize); }

  /// Changes one weight of a checkpoint, and all hashes in the file with it.
  void forge(std::int64_t step, bool with_metrics) const {
    const CheckpointStore store(run_, 0);
    Checkpoint checkpoint = load_checkpoint(store.path(step));
    const std::string before = weight_hash(checkpoint.state.parameters);
    std::get<AlignedBuffer<float>>(checkpoint.state.parameters).data()[3] += 0.5F;
    if (with_metrics) {
      std::string metrics = text(kMetricsFile);
      const std::string after = weight_hash(checkpoint.state.parameters);
      for (std::size_t at = 0; (at = metrics.find(before, at)) != std::string::npos;)
        metrics.replace(at, after.size(), after);
      write_file_atomically(run_ / kMetricsFile, metrics);
      metrics.resize(static_cast<std::size_t>(checkpoint.run.metrics_bytes));
      checkpoint.run.metrics_sha256 = sha256_hex(std::as_bytes(std::span(metrics)));
      checkpoint.model.network.values() = checkpoint.state.parameters;
      save_model(run_ / kModelFile, checkpoint.model.network, checkpoint.model.info);
      write_file_atomically(run_ / kCertificateFile, certificate_json(make_certificate(
                                                         run_, text(kConfigFile), checkpoint.run.data_digest, after)));
    }
    store.save(step,
               write_checkpoint(checkpoint.model.network, checkpoint.model.info, checkpoint.state, checkpoint.run));
  }

  TemporaryFolder folder_{};
  fs::path run_ = folder_ / "run";
};

TEST_F(VerifyTest, HoldsOnAnyBackend) {
  for (const Backend backend : {Backend::simd, Backend::naive})
    for (const int threads : {1, 3}) {
      const Verification found = verify({.backend = backend, .threads = threads});
      EXPECT_TRUE(found.holds()) << found.text();
      EXPECT_EQ(found.claims.size(), 6) << found.text();  // three checkpoints, model, certificate, the training
    }
}

TEST_F(VerifyTest, SegmentsBetweenCheckpoints) {
  const Verification all = verify({.segments = 3});
  EXPECT_TRUE(all.holds()) << all.text();
  EXPECT_EQ(all.claims.size(), 8) << all.text();
  const Verification one = verify({.segments = 1, .seed = 5});
  EXPECT_EQ(one.claims.size(), 6) << one.text();
  EXPECT_EQ(one.claims.back().what, verify({.segments = 1, .seed = 5}).claims.back().what) << "drawn by the seed";
}

TEST_F(VerifyTest, FilesAreNotChanged) {
  const auto hash = [&] {
    std::map<std::string, std::string> found;
    for (const auto& each : fs::directory_iterator(run_))
      found[each.path().filename().string()] = sha256_hex(read_file(each.path(), kAnySize));
    return found;
  };
  const auto before = hash();
  verify();
  EXPECT_EQ(hash(), before);
}

/// All files agree with each other: only computing the training again shows it.
TEST_F(VerifyTest, AForgedResult) {
  forge(32, true);
  EXPECT_EQ(false_claims(verify({.files_only = true})), "");
  const std::string said = false_claims(verify());
  EXPECT_NE(said.find("steps 1 to 32"), std::string::npos) << said;
  EXPECT_NE(said.find("weight_hash is"), std::string::npos) << said;
}

TEST_F(VerifyTest, AForgedStateOnTheWay) {
  forge(19, false);
  EXPECT_TRUE(verify().holds()) << "the training from the beginning does not pass through it";
  const std::string said = false_claims(verify({.segments = 3}));
  EXPECT_NE(said.find("steps 12 to 19 of the training: the weight 0.weight[3] is "), std::string::npos) << said;
  EXPECT_NE(said.find("steps 20 to 32"), std::string::npos) << said;
}

TEST_F(VerifyTest, AnotherConfiguration) {
  std::string config = text(kConfigFile);
  config.replace(config.find("lr = 0.01"), 9, "lr = 0.02");
  write_file_atomically(run_ / kConfigFile, config);
  const std::string said = false_claims(verify());
  EXPECT_NE(said.find("train.optimizer.lr is 0.01 there and 0.02 in config.toml"), std::string::npos) << said;
  EXPECT_NE(said.find("steps 1 to 32"), std::string::npos) << said;
}

TEST_F(VerifyTest, AForgedMetric) {
  std::string metrics = text(kMetricsFile);
  const auto at = metrics.find("\"correct\":") + 10;
  metrics[at] = metrics[at] == '1' ? '2' : '1';
  write_file_atomically(run_ / kMetricsFile, metrics);
  const std::string said = false_claims(verify());
  EXPECT_NE(said.find("metrics.jsonl:1: train.correct is "), std::string::npos) << said;
}

TEST_F(VerifyTest, LinesThatNoTrainingWrites) {
  std::ofstream(run_ / kMetricsFile, std::ios::app) << "{\"epoch\":5}\n";
  const std::string said = false_claims(verify());
  EXPECT_NE(said.find("metrics.jsonl has 1 line more"), std::string::npos) << said;
}

TEST_F(VerifyTest, Certificates) {
  const std::string whole = text(kCertificateFile);
  EXPECT_TRUE(verify_certificate(run_ / kCertificateFile, run_ / kModelFile).holds());
  const Certificate read = parse_certificate(whole, "c");
  EXPECT_EQ(certificate_json(read), whole);
  for (const char* key : {"\"data_sha256\": \"", "\"config\": \"", "\"line\": \"{\\\"epoch\\\":", "\"weight_hash\": \"",
                          "\"seal\": \"", "\"link\": \"", "\"program\": \"lockstep "}) {
    std::string changed = whole;
    const auto at = whole.find(key) + std::string_view(key).size();
    ASSERT_LT(at, whole.size()) << key;
    changed[at] = changed[at] == '7' ? '8' : '7';
    EXPECT_THROW(parse_certificate(changed, "c"), Error) << key;
  }
  EXPECT_THROW(parse_certificate("[1]", "c"), Error);
  write_file_atomically(run_ / kCertificateFile, whole);
  forge(32, true);  // another model, and its own certificate
  write_file_atomically(folder_ / "old.json", whole);
  const Verification other = verify_certificate(folder_ / "old.json", run_ / kModelFile);
  EXPECT_FALSE(other.holds()) << other.text();
}

TEST_F(VerifyTest, GivesUpOnRequest) {
  try {
    verify({.stop = [] { return true; }});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::preempted);
  }
}

TEST(Verify, AFolderThatIsNoRun) {
  const TemporaryFolder folder;
  EXPECT_THROW(verify_run(folder / "", {}), Error);
}

}  // namespace
}  // namespace lockstep
