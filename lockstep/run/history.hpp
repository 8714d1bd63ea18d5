#pragma once
// metrics.jsonl and timings.jsonl, read back.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/train/trainer.hpp"

namespace lockstep {

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
