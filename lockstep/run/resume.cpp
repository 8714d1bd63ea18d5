#include "lockstep/run/resume.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/sha256.hpp"
#include "lockstep/core/shell_words.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/model/checkpoint.hpp"
#include "lockstep/model/checkpoint_store.hpp"
#include "lockstep/run/lines.hpp"

namespace lockstep {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kAnySize = std::numeric_limits<std::int64_t>::max();

/// Error(checkpoint) when `file` holds another configuration than the one asked for.
void check_same_config(const std::string& file, const std::string& toml, const RunConfig& config) {
  std::optional<ConfigDifference> found;
  try {
    found = find_difference(toml, resolved_toml(config));
  } catch (const Error& error) {
    throw Error(ErrorCode::checkpoint,
                fmt::format("{}: the configuration in it cannot be read: {}", file, error.what()));
  }
  if (!found) return;
  const bool cosine = found->key == "train.epochs" && config.train.schedule.kind == ScheduleKind::cosine;
  throw Error(ErrorCode::checkpoint,
              fmt::format("{}: {} is {} there but {} now{}; a run goes on as it began: set it back, or give another "
                          "run directory",
                          file, found->key, found->first, found->second,
                          cosine ? ", and the cosine schedule depends on it" : ""));
}

}  // namespace

std::string resume_command(const fs::path& directory) {
  return fmt::format("lockstep train {} --out {} --resume", shell_word((directory / kConfigFile).string()),
                     shell_word(directory.string()));
}

std::optional<Checkpoint> find_checkpoint(const RunDirectory& directory, const RunConfig& config,
                                          RunObserver& observer) {
  const CheckpointStore store(directory.path());
  std::optional<Checkpoint> found = store.load_newest([&](const std::string& line) { observer.warn(one_line(line)); });
  if (!found) {
    const fs::path earlier = directory.file(kConfigFile);
    if (fs::exists(earlier))
      check_same_config(earlier.string(), read_text(earlier, kAnySize, ErrorCode::checkpoint), config);
    observer.note(fmt::format("{}: no checkpoint to go on from; training from the beginning",
                              one_line(directory.path().string())));
    return found;
  }
  const std::string name = store.path(found->state.steps).string();
  if (found->model.numerics_version != kNumericsVersion)
    throw Error(ErrorCode::checkpoint,
                fmt::format("{}: made under numerics {}, this program computes under numerics {}; go on with the "
                            "program that made it (Lockstep {}), or train anew",
                            name, found->model.numerics_version, kNumericsVersion, found->model.version));
  check_same_config(name, found->run.config, config);
  return found;
}

std::string check_same_data(const Checkpoint& checkpoint, const RunDirectory& directory, const DataSplits& data) {
  std::string digest = data_digest(data);
  if (digest != checkpoint.run.data_digest)
    throw Error(ErrorCode::checkpoint,
                fmt::format("{}: the data had the SHA-256 {} then but have {} now: other samples, labels or order; "
                            "put them back, or give another run directory",
                            CheckpointStore(directory.path()).path(checkpoint.state.steps).string(),
                            short_hash(checkpoint.run.data_digest), short_hash(digest)));
  return digest;
}

KeptLines check_lines(const Checkpoint& checkpoint, const RunDirectory& directory) {
  const RunRecord& run = checkpoint.run;
  KeptLines kept{.metrics_bytes = run.metrics_bytes};
  const fs::path metrics = directory.file(kMetricsFile), timings = directory.file(kTimingsFile);
  std::string text = fs::exists(metrics) ? read_text(metrics, kAnySize, ErrorCode::checkpoint) : "";
  text.resize(std::min(text.size(), static_cast<std::size_t>(run.metrics_bytes)));
  if (static_cast<std::int64_t>(text.size()) != run.metrics_bytes ||
      sha256_hex(std::as_bytes(std::span(text))) != run.metrics_sha256)
    throw Error(ErrorCode::checkpoint,
                fmt::format("{}: its first {} bytes are not what they were when {} was saved; put the file back, or "
                            "train anew",
                            metrics.string(), run.metrics_bytes, checkpoint_name(checkpoint.state.steps)));
  if (!text.empty()) {
    text.pop_back();
    kept.last = report_from_metrics(std::string_view(text).substr(text.rfind('\n') + 1));
  }
  // Times are for people: what a power cut took is not missed.
  if (!fs::exists(timings)) return kept;
  std::string lines = read_text(timings, kAnySize, ErrorCode::checkpoint);
  lines.resize(std::min(lines.size(), static_cast<std::size_t>(run.timings_bytes)));
  kept.timings_bytes = static_cast<std::int64_t>(lines.rfind('\n') + 1);
  return kept;
}

RunCheckpoints::RunCheckpoints(const CheckpointSources& sources, std::int64_t steps, std::string digest)
    : sources_(sources),
      store_(sources.directory.path(), sources.config.checkpoint.keep),
      config_(resolved_toml(sources.config)),
      saved_steps_(steps),
      digest_(std::move(digest)),
      writer_([this](const Snapshot& snapshot) { write(snapshot); }) {}

bool RunCheckpoints::is_due(std::int64_t steps) {
  if (!writer_.idle()) return false;
  const CheckpointConfig& when = sources_.config.checkpoint;
  // At multiples of every_steps, or as soon after one as the writer is free.
  if (when.every_steps > 0 && steps / when.every_steps > saved_steps_ / when.every_steps) return true;
  return when.every_minutes > 0 &&
         Clock::now() - saved_at_ >= std::chrono::duration<double, std::ratio<60>>(when.every_minutes);
}

void RunCheckpoints::start(const Trainer& trainer) {
  Snapshot now = snapshot(trainer);
  saved_steps_ = now.state.steps;
  writer_.hand_over(std::move(now));
  saved_at_ = Clock::now();
}

std::string RunCheckpoints::save(const Trainer& trainer) {
  writer_.wait();
  Snapshot now = snapshot(trainer);
  const std::int64_t steps = now.state.steps;
  writer_.hand_over(std::move(now));
  writer_.wait();
  return checkpoint_name(steps);
}

Snapshot RunCheckpoints::snapshot(const Trainer& trainer) const {
  return {.state = trainer.state(),
          .metrics_bytes = sources_.metrics.bytes(),
          .timings_bytes = sources_.timings.bytes(),
          .metrics_sha256 = sources_.metrics.sha256()};
}

void RunCheckpoints::write(const Snapshot& snapshot) {
  if (digest_.empty()) digest_ = data_digest(sources_.data);
  // A checkpoint on the disk must find on the disk the lines it names.
  sources_.metrics.sync();
  store_.save(snapshot.state.steps, write_checkpoint(sources_.network, sources_.info, snapshot.state,
                                                     {.config = config_,
                                                      .data_digest = digest_,
                                                      .metrics_bytes = snapshot.metrics_bytes,
                                                      .metrics_sha256 = snapshot.metrics_sha256,
                                                      .timings_bytes = snapshot.timings_bytes}));
}

}  // namespace lockstep
