#pragma once
// metrics.jsonl and timings.jsonl: their lines, and the files read back; and scores as JSON. Numbers are printed in the
// shortest form that reads back to the same bits, so equal results are equal bytes.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/train/trainer.hpp"

namespace lockstep {

/// {"samples": 10000, "loss": 0.31, "correct": 8871, "accuracy": 0.8871}; the last two when there are classes; then
/// the metrics by their names, and "f1_per_class": [...].
std::string scores_json(const Scores& scores);

/// A line of metrics.jsonl: under the promise, so no times and nothing about the machine.
std::string metrics_line(const EpochReport& report);
/// The last line of metrics.jsonl: the scores of the final weights on `part`, "test" or "final_train".
std::string final_line(const char* part, const Scores& scores, const std::string& weight_hash);

/// A line of timings.jsonl: seconds per phase; of each rank too when there are several, on these hosts.
/// `scatter_seconds`: how long rank 0 sent the data before this epoch.
std::string timings_line(const EpochReport& report, const std::string& backend, const std::vector<std::string>& hosts,
                         std::optional<double> scatter_seconds);

/// A warning when a training ended far above its start: the loss `last` (of the last epoch or of the final weights) is
/// over 10 times that of the first batch. With classes a first loss counts as 1 at least, the loss of a guess, and as
/// 100 at most, since no sensible loss is larger.
std::optional<std::string> loss_warning(std::optional<double> first_loss, const Scores& last);

/// The size of a file of a run that a report may show.
inline constexpr std::int64_t kMostShownBytes = 256 << 20;

struct RunEpoch {
  EpochReport scores{};
  std::optional<double> seconds{}, samples_per_second{};
};

struct RunHistory {
  std::string name{};
  std::vector<RunEpoch> epochs{};
  std::optional<Scores> test{}, final_train{};  // of the final weights
  std::optional<double> first_loss{};           // of the first batch
  std::string weight_hash{}, backend{};
  std::map<std::string, double> phases{};                    // seconds over all epochs
  std::vector<std::map<std::string, double>> rank_phases{};  // the same of each rank, where there are several
};

/// Of a run directory; timings.jsonl may be missing. Error(data), with file and line, for a damaged file.
RunHistory read_history(const std::filesystem::path& directory);

/// The scores in a line of metrics.jsonl; nothing when the line is not that of an epoch.
std::optional<EpochReport> report_from_metrics(std::string_view line);

}  // namespace lockstep
