#include "lockstep/run/run_diff.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "lockstep/config/config.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/model/checkpoint_store.hpp"
#include "lockstep/run/diff_step.hpp"
#include "lockstep/run/difference.hpp"
#include "lockstep/run/directory.hpp"
#include "lockstep/run/lines.hpp"

namespace lockstep {

namespace fs = std::filesystem;

namespace {

/// What a run directory says about its steps.
struct RunFiles {
  fs::path directory;
  std::string config{}, data_digest{}, backend{};
  int numerics_version = kNumericsVersion;
  std::map<std::int64_t, std::string> lines{};   // metrics, by the step that ends the epoch
  std::map<std::int64_t, std::string> states{};  // hashes of weights and optimiser, by step
  std::int64_t last_step = 0;
};

/// Weights and optimiser; the sums of the epoch are in the metrics too.
std::string state_hash(const TrainingState& state) {
  return weight_hash(state.parameters) + weight_hash(state.first) + weight_hash(state.second);
}

RunFiles read_files(const fs::path& directory) {
  if (!fs::exists(directory / kConfigFile) || !fs::exists(directory / kMetricsFile))
    throw Error(ErrorCode::usage, fmt::format("{}: is not a run directory: {} and {} are missing",
                                              one_line(directory.string()), kConfigFile, kMetricsFile));
  RunFiles files{.directory = directory};
  files.config = read_text(directory / kConfigFile, kMostShownBytes, ErrorCode::checkpoint);
  for (const std::string& line : lines_of(read_text(directory / kMetricsFile, kMostShownBytes, ErrorCode::checkpoint)))
    if (const auto report = report_from_metrics(line)) files.lines[report->steps] = line;
  const CheckpointStore store(directory);
  for (const std::int64_t step : store.steps()) {
    const Checkpoint found = load_checkpoint(store.path(step));
    files.data_digest = found.run.data_digest;
    files.numerics_version = found.model.numerics_version;
    // At the end of an epoch weights and their average have changed places.
    if (found.state.batch != 0 || found.state.averaged == 0) files.states[step] = state_hash(found.state);
  }
  for (const auto* steps : {&files.lines, &files.states})
    if (!steps->empty()) files.last_step = std::max(files.last_step, steps->rbegin()->first);
  files.backend = read_history(directory).backend;
  return files;
}

/// Error(usage) where two runs need not agree.
void require_comparable(const RunFiles& one, const RunFiles& other) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::usage,
                fmt::format("{} and {} need not agree: {}; lockstep compare shows runs that differ",
                            one_line(one.directory.string()), one_line(other.directory.string()), what));
  };
  // In both directions: the second may have more epochs.
  auto found = find_difference(one.config, other.config);
  if (found && find_difference(other.config, one.config))
    refuse(fmt::format("{} is {} and {}", found->key, found->first, found->second));
  if (one.numerics_version != other.numerics_version)
    refuse(fmt::format("numerics {} and {}", one.numerics_version, other.numerics_version));
  if (!one.data_digest.empty() && !other.data_digest.empty() && one.data_digest != other.data_digest)
    refuse(fmt::format("their data have the SHA-256 {} and {}", short_hash(one.data_digest),
                       short_hash(other.data_digest)));
  for (const RunFiles* each : {&one, &other})
    if (parse_config(each->config, (each->directory / kConfigFile).string()).train.parallel.reduce ==
        RankReduction::library)
      refuse("parallel.reduce = \"mpi\" lets MPI choose the order of the sums");
}

std::optional<Backend> backend_named(const std::string& name) {
  const auto& names = backend_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Backend>(found - names.begin());
}

class Differ {
 public:
  Differ(const fs::path& first, const fs::path& second, const DiffOptions& options)
      : options_(options), runs_{read_files(first), read_files(second)} {
    require_comparable(runs_[0], runs_[1]);
    for (std::size_t i = 0; i < 2; ++i) {
      result_.names[i] = runs_[i].directory.string();
      result_.backends[i] = runs_[i].backend;
    }
    result_.reference = backend_names()[static_cast<std::size_t>(options.backend)];
  }

  RunDiff run() {
    compare_files();
    if (result_.agree) return result_;
    compare_states();
    const TrainingState start = common_start();
    Recomputation reference(runs_[0].directory, options_.backend, options_.threads, options_.stop);
    require_same_data(reference);
    const TrainingState& from = start.steps > 0 ? start : reference.beginning();
    // Each run is followed by the reference where it has its bits, else by its own backend.
    const Recomputation::Path here = follow(reference, from, result_.first_other);
    std::array<std::optional<Recomputation>, 2> own;
    std::array<std::optional<Recomputation::Path>, 2> paths;
    for (std::size_t i = 0; i < 2; ++i) {
      result_.computed_here[i] = is_as_claimed(here, i);
      if (result_.computed_here[i]) paths[i] = here;
      const auto backend = backend_named(runs_[i].backend);
      if (result_.computed_here[i] || !backend || *backend == options_.backend) continue;
      own[i].emplace(runs_[i].directory, *backend, options_.threads, options_.stop);
      Recomputation::Path path = follow(*own[i], from, result_.first_other);
      result_.reproduced[i] = is_as_claimed(path, i);
      if (result_.reproduced[i]) paths[i] = std::move(path);
    }
    if (paths[0] && paths[1])
      find_step(from, *paths[0], *paths[1], own[0] ? *own[0] : reference, own[1] ? *own[1] : reference);
    for (std::size_t i = 0; i < 2; ++i)
      if (!paths[i]) find_sound_part(i, reference);
    return result_;
  }

 private:
  void require_same_data(const Recomputation& made) const {
    const std::string digest = data_digest(made.data());
    for (const RunFiles& each : runs_)
      if (!each.data_digest.empty() && each.data_digest != digest)
        throw Error(ErrorCode::data,
                    fmt::format("the data have the SHA-256 {} now, {} was trained on {}", short_hash(digest),
                                one_line(each.directory.string()), short_hash(each.data_digest)));
  }

  Recomputation::Path follow(Recomputation& by, const TrainingState& from, std::int64_t last) {
    ++result_.replays;
    return by.follow(from, last);
  }

  /// Up to the first step whose metrics or state differ.
  void compare_files() {
    std::map<std::int64_t, std::string> points;  // step -> what differs; "": nothing
    for (const auto& [step, line] : runs_[0].lines)
      if (const auto other = runs_[1].lines.find(step); other != runs_[1].lines.end()) {
        ++result_.epochs;
        points[step] = line == other->second ? "" : "the metrics: " + line_difference(line, other->second);
      }
    for (const auto& [step, hash] : runs_[0].states)
      if (const auto other = runs_[1].states.find(step); other != runs_[1].states.end()) {
        ++result_.checkpoints;
        std::string& point = points[step];
        if (hash != other->second && point.empty()) point = checkpoint_name(step);
      }
    if (points.empty())
      throw Error(ErrorCode::usage, fmt::format("{} and {} have no epoch and no checkpoint in common",
                                                one_line(result_.names[0]), one_line(result_.names[1])));
    for (const auto& [step, difference] : points) {
      if (!difference.empty()) {
        result_.first_other = step;
        result_.evidence = difference;
        return;
      }
      result_.last_same = step;
    }
    result_.agree = true;
  }

  Checkpoint load(std::size_t run, std::int64_t step) const {
    return load_checkpoint(CheckpointStore(runs_[run].directory).path(step));
  }

  /// The first element of the first checkpoints of both that differ.
  void compare_states() {
    for (const auto& [step, hash] : runs_[0].states) {
      const auto other = runs_[1].states.find(step);
      if (step < result_.first_other || other == runs_[1].states.end() || other->second == hash) continue;
      result_.state = fmt::format("{}: {}", checkpoint_name(step), state_difference(load(0, step), load(1, step)));
      return;
    }
  }

  /// The last checkpoint before the difference that both runs have; the empty state where there is none.
  TrainingState common_start() const {
    std::int64_t found = 0;
    for (const auto& [step, hash] : runs_[0].states)
      if (step < result_.first_other && runs_[1].states.contains(step)) found = step;
    return found > 0 ? load(0, found).state : TrainingState{};
  }

  /// Whether a path ends with what the run's files say about that step.
  bool is_as_claimed(const Recomputation::Path& path, std::size_t run) const {
    const std::int64_t step = result_.first_other;
    const auto line = runs_[run].lines.find(step);
    if (line != runs_[run].lines.end() && path.lines.contains(step) && path.lines.at(step) != line->second)
      return false;
    const auto state = runs_[run].states.find(step);
    return state == runs_[run].states.end() || state->second == state_hash(path.end);
  }

  void find_step(const TrainingState& from, const Recomputation::Path& one, const Recomputation::Path& other,
                 Recomputation& first, Recomputation& second) {
    const auto differs = std::mismatch(one.weights.begin(), one.weights.end(), other.weights.begin());
    if (differs.first == one.weights.end()) return;
    const std::int64_t step = from.steps + (differs.first - one.weights.begin()) + 1;
    result_.step = step;
    const TrainingState before = step - 1 > from.steps ? follow(first, from, step - 1).end : from;
    const StepDifference found = compare_step(before, first, second);
    result_.phase = found.phase;
    result_.place = found.place;
    result_.replays += 2;
    result_.growth = distances(before, std::min(runs_[0].last_step, runs_[1].last_step), first, second);
  }

  /// A run that has other bits than it should: the checkpoint from which on it is sound.
  void find_sound_part(std::size_t run, Recomputation& reference) {
    const auto& states = runs_[run].states;
    for (auto from = states.lower_bound(result_.first_other); from != states.end() && std::next(from) != states.end();
         ++from) {
      const auto to = std::next(from);
      const Recomputation::Path path = follow(reference, load(run, from->first).state, to->first);
      if (state_hash(path.end) == to->second) {
        result_.sound_from[run] = from->first;
        return;
      }
      if (result_.replays >= kMostReplays) return;
    }
  }

  static constexpr int kMostReplays = 16;

  const DiffOptions& options_;
  std::array<RunFiles, 2> runs_;
  RunDiff result_{};
};

}  // namespace

RunDiff diff_runs(const fs::path& first, const fs::path& second, const DiffOptions& options) {
  return Differ(first, second, options).run();
}

}  // namespace lockstep
