#include "lockstep/run/verify.hpp"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <random>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/config/config.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/sha256.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/model/checkpoint_store.hpp"
#include "lockstep/model/model_file.hpp"
#include "lockstep/parallel/launcher.hpp"
#include "lockstep/run/certificate.hpp"
#include "lockstep/run/difference.hpp"
#include "lockstep/run/directory.hpp"
#include "lockstep/run/lines.hpp"
#include "lockstep/run/train_run.hpp"

namespace lockstep {

namespace fs = std::filesystem;

namespace {

/// Of the model that a run would save here: the averaged ones, where there are any and an epoch has ended.
const ParameterValues& weights_of_model(const TrainingState& state) {
  return state.averaged > 0 && state.batch == 0 ? state.average : state.parameters;
}

using Json = nlohmann::ordered_json;

/// A folder for the runs that are computed again.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "lockstep-verify-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) fail_system(ErrorCode::resources, pattern, errno);
    path_ = pattern;
  }
  ~Scratch() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Stands between the run that is computed again and the user's observer: progress and warnings pass, notes about
/// folders do not.
class Replay final : public RunObserver {
 public:
  explicit Replay(RunObserver* to) : to_(to) {}
  void warn(const std::string& line) override {
    if (to_ != nullptr) to_->warn(line);
  }
  void begin(std::int64_t samples, std::int64_t epochs) override {
    if (to_ != nullptr) to_->begin(samples, epochs);
  }
  void step(const StepReport& report) override {
    if (to_ != nullptr) to_->step(report);
  }
  void epoch(const EpochReport& report) override {
    if (to_ != nullptr) to_->epoch(report);
  }

 private:
  RunObserver* to_;
};

/// What is kept of a checkpoint: states are large.
struct Saved {
  std::int64_t step = 0, batch = 0, metrics_bytes = 0;
  std::string data_digest{};
};

class Verifier {
 public:
  Verifier(fs::path directory, const VerifyOptions& options) : directory_(std::move(directory)), options_(options) {
    result_.name = directory_.string();
    if (!fs::exists(directory_ / kConfigFile) || !fs::exists(directory_ / kMetricsFile))
      throw Error(ErrorCode::usage, fmt::format("{}: is not a run directory: {} and {} are missing",
                                                one_line(directory_.string()), kConfigFile, kMetricsFile));
    if (find_launcher())
      throw Error(ErrorCode::usage, "verify computes in one process; start it without mpirun or srun");
    config_ = read_text(directory_ / kConfigFile, kMostShownBytes, ErrorCode::checkpoint);
    metrics_ = read_text(directory_ / kMetricsFile, kMostShownBytes, ErrorCode::checkpoint);
    const RunConfig config = parse_config(config_, (directory_ / kConfigFile).string());
    if (config.train.parallel.reduce == RankReduction::library)
      throw Error(ErrorCode::usage, fmt::format("{}: parallel.reduce = \"mpi\" lets MPI choose the order of the sums; "
                                                "only runs with reduce = \"tree\" can be computed again",
                                                one_line(directory_.string())));
  }

  Verification run() {
    check_checkpoints();
    check_model();
    check_certificate();
    if (!options_.files_only) check_segments();
    return std::move(result_);
  }

 private:
  void claim(std::string what, const std::string& difference, std::string detail) {
    result_.claims.push_back(
        {.what = std::move(what), .holds = difference.empty(), .detail = difference.empty() ? detail : difference});
  }

  void check_checkpoints() {
    const CheckpointStore store(directory_);
    for (const std::int64_t step : store.steps()) {
      std::string difference;
      try {
        const Checkpoint found = load_checkpoint(store.path(step));
        difference = file_difference(found);
        saved_.push_back({.step = step,
                          .batch = found.state.batch,
                          .metrics_bytes = found.run.metrics_bytes,
                          .data_digest = found.run.data_digest});
      } catch (const Error& error) {
        difference = error.what();
      }
      claim(checkpoint_name(step), difference, "whole; configuration and metrics are those of the run");
    }
    std::reverse(saved_.begin(), saved_.end());  // by step
    if (saved_.empty())
      throw Error(ErrorCode::checkpoint,
                  fmt::format("{}: no checkpoint that can be read", one_line(directory_.string())));
  }

  /// What a checkpoint says about the other files of the run.
  std::string file_difference(const Checkpoint& checkpoint) const {
    if (checkpoint.model.numerics_version != kNumericsVersion)
      throw Error(ErrorCode::checkpoint,
                  fmt::format("{}: made under numerics {}, this program computes under numerics {}",
                              one_line(directory_.string()), checkpoint.model.numerics_version, kNumericsVersion));
    if (const auto other = find_difference(checkpoint.run.config, config_))
      return fmt::format("{} is {} there and {} in {}", other->key, other->first, other->second, kConfigFile);
    const std::string kept = metrics_.substr(0, static_cast<std::size_t>(checkpoint.run.metrics_bytes));
    if (sha256_hex(std::as_bytes(std::span(kept))) != checkpoint.run.metrics_sha256)
      return fmt::format("{} was changed after it was saved", kMetricsFile);
    if (!saved_.empty() && checkpoint.run.data_digest != saved_.back().data_digest)
      return "other data than in the checkpoint after it";
    if (checkpoint.state.batch != 0) return "";
    const std::vector<std::string> lines = lines_of(kept);
    const auto last = lines.empty() ? std::nullopt : report_from_metrics(lines.back());
    const std::string hash = weight_hash(weights_of_model(checkpoint.state));
    if (last && last->epoch == checkpoint.state.epoch && last->weight_hash != hash)
      return fmt::format("its weights have the hash {}, but {} says {} for epoch {}", short_hash(hash), kMetricsFile,
                         short_hash(last->weight_hash), last->epoch);
    return "";
  }

  void check_model() {
    const fs::path path = directory_ / kModelFile;
    if (!fs::exists(path)) return claim(kModelFile, "is missing", "");
    const Checkpoint last = load_checkpoint(CheckpointStore(directory_).path(saved_.back().step));
    std::string difference;
    try {
      const Model model = load_model(path);
      if (model.network.parameter_count() != last.model.network.parameter_count())
        difference = "another network than that of the last checkpoint";
      else
        difference =
            values_difference(last.model.network, "the weight", weights_of_model(last.state), model.network.values());
      model_hash_ = weight_hash(model.network.values());
    } catch (const Error& error) {
      difference = error.what();
    }
    claim(kModelFile, difference,
          fmt::format("the weights of {}: {}", checkpoint_name(last.state.steps), short_hash(model_hash_)));
  }

  void check_certificate() {
    const fs::path path = directory_ / kCertificateFile;
    if (!fs::exists(path)) return;  // of an earlier Lockstep, or a run that was stopped
    std::string difference;
    try {
      const Certificate found = load_certificate(path);
      if (found.lines != lines_of(metrics_))
        difference = fmt::format("its metrics are not those of {}", kMetricsFile);
      else if (found.config != config_)
        difference = fmt::format("its configuration is not that of {}", kConfigFile);
      else if (found.data_digest != saved_.back().data_digest)
        difference = "its data are not those of the last checkpoint";
      else if (found.weight_hash != model_hash_)
        difference = fmt::format("it was made for the weights {}", short_hash(found.weight_hash));
    } catch (const Error& error) {
      difference = error.what();
    }
    claim(kCertificateFile, difference, "the chain from the configuration to the model holds");
  }

  /// From the beginning or one checkpoint to the next.
  void check_segments() {
    if (options_.segments == 0) return check_segment(nullptr, saved_.back());
    // One that stands at the end of an epoch, before the last, is that of a run that went on for more epochs: a
    // training does not stop there, so no segment ends there.
    std::vector<std::pair<const Saved*, const Saved*>> segments;
    const Saved* before = nullptr;
    for (const Saved& each : saved_) {
      if (each.batch == 0 && &each != &saved_.back()) continue;
      segments.emplace_back(before, &each);
      before = &each;
    }
    std::shuffle(segments.begin(), segments.end(), std::mt19937_64(options_.seed));
    segments.resize(std::min(segments.size(), static_cast<std::size_t>(options_.segments)));
    std::sort(segments.begin(), segments.end(),
              [](const auto& a, const auto& b) { return a.second->step < b.second->step; });
    for (const auto& [from, to] : segments) check_segment(from, *to);
  }

  void check_segment(const Saved* from, const Saved& to) {
    const std::int64_t first = from != nullptr ? from->step : 0, last = to.step;
    const std::string what = fmt::format("steps {} to {} of the training", first + 1, last);
    if (first == last) return;
    const Scratch scratch;
    std::string difference;
    try {
      const std::int64_t lines = compute_again(from, to, scratch.path());
      const Checkpoint again = load_checkpoint(CheckpointStore(scratch.path()).path(last));
      difference = again.run.data_digest != to.data_digest
                       ? fmt::format("the data have the SHA-256 {} there and {} here", short_hash(to.data_digest),
                                     short_hash(again.run.data_digest))
                       : metrics_difference(scratch.path(), to.batch == 0);
      if (difference.empty())
        difference = state_difference(load_checkpoint(CheckpointStore(directory_).path(last)), again);
      if (difference.empty())
        return claim(what, "",
                     fmt::format("computed again: {} of metrics, weights and optimiser are the same bits",
                                 count_of(lines, "line")));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::preempted || error.code() == ErrorCode::resources) throw;
      difference = fmt::format("cannot be computed again: {}", error.what());
    }
    claim(what, difference, "");
  }

  /// Trains in `folder` up to where `to` was saved: in the middle of an epoch, or at the end of the run. How many lines
  /// of metrics are there then.
  std::int64_t compute_again(const Saved* from, const Saved& to, const fs::path& folder) {
    const std::int64_t last = to.batch == 0 ? -1 : to.step;
    std::int64_t done = 0;
    if (from != nullptr) {
      done = from->step;
      const CheckpointStore store(directory_);
      fs::copy_file(store.path(done), CheckpointStore(folder).path(done));
      write_file_atomically(folder / kConfigFile, config_);
      write_file_atomically(folder / kMetricsFile,
                            std::string_view(metrics_).substr(0, static_cast<std::size_t>(from->metrics_bytes)));
    }
    Replay replay(options_.observer);
    bool given_up = false;
    const RunOptions run{.set = {"checkpoint.every_steps=0", "checkpoint.every_minutes=0", "log.tensorboard=false",
                                 "guard.recheck=0", "parallel.pipeline=1", "parallel.tensor=1"},
                         .out = folder.string(),
                         .resume = from != nullptr,
                         .backend = options_.backend,
                         .threads = options_.threads,
                         .stop =
                             [&] {
                               given_up = given_up || (options_.stop && options_.stop());
                               return given_up || ++done == last;
                             },
                         .observer = &replay};
    try {
      train_run((directory_ / kConfigFile).string(), run);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::preempted) throw;
      if (given_up) throw Error(ErrorCode::preempted, "stopped before its end; the run was not changed");
    }
    return std::ssize(lines_of(read_text(folder / kMetricsFile, kMostShownBytes)));
  }

  /// Lines that were computed again against those of the run; of a `complete` one all.
  std::string metrics_difference(const fs::path& folder, bool complete) const {
    const std::vector<std::string> claimed = lines_of(metrics_),
                                   computed = lines_of(read_text(folder / kMetricsFile, kMostShownBytes));
    for (std::size_t i = 0; i < computed.size(); ++i) {
      if (i >= claimed.size())
        return fmt::format("{} has {} only", kMetricsFile, count_of(std::ssize(claimed), "line"));
      if (claimed[i] == computed[i]) continue;
      return fmt::format("{}:{}: {}", kMetricsFile, i + 1, line_difference(claimed[i], computed[i]));
    }
    if (complete && claimed.size() > computed.size())
      return fmt::format("{} has {} more than the training writes", kMetricsFile,
                         count_of(std::ssize(claimed) - std::ssize(computed), "line"));
    return "";
  }

  fs::path directory_;
  const VerifyOptions& options_;
  std::string config_{}, metrics_{}, model_hash_{};
  std::vector<Saved> saved_{};
  Verification result_{};
};

}  // namespace

bool Verification::holds() const {
  return std::all_of(claims.begin(), claims.end(), [](const Claim& each) { return each.holds; });
}

std::string Verification::text() const {
  TextTable table("lll");
  for (const Claim& each : claims) table.row({each.holds ? "holds" : "FALSE", each.what, each.detail});
  return fmt::format("{}\n{}: {}\n", table.str(), one_line(name),
                     holds() ? "the run is what it claims" : "the run is NOT what it claims");
}

std::string Verification::json() const {
  Json list = Json::array();
  for (const Claim& each : claims)
    list.push_back({{"what", each.what}, {"holds", each.holds}, {"detail", each.detail}});
  return Json{{"name", name}, {"holds", holds()}, {"claims", std::move(list)}}.dump(2);
}

Verification verify_run(const fs::path& directory, const VerifyOptions& options) {
  return Verifier(directory, options).run();
}

Verification verify_certificate(const fs::path& certificate, const fs::path& model) {
  Verification result{.name = certificate.string()};
  Certificate found;
  try {
    found = load_certificate(certificate);
    result.claims.push_back(
        {.what = "the chain",
         .holds = true,
         .detail = fmt::format("{}, {}, data {}", found.program,
                               count_of(std::ssize(found.lines), "line of metrics", "lines of metrics"),
                               short_hash(found.data_digest))});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::integrity) throw;
    result.claims.push_back({.what = "the chain", .holds = false, .detail = error.what()});
    return result;
  }
  const std::string hash = weight_hash(load_model(model).network.values());
  const bool same = hash == found.weight_hash;
  result.claims.push_back({.what = one_line(model.string()),
                           .holds = same,
                           .detail = same ? fmt::format("the weights of the certificate: {}", short_hash(hash))
                                          : fmt::format("has the weight hash {}, the certificate is for {}",
                                                        short_hash(hash), short_hash(found.weight_hash))});
  return result;
}

}  // namespace lockstep
