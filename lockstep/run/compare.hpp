#pragma once
// Several runs beside each other: where their configurations differ, their scores, and whether they have the same bits.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/lab/report/document.hpp"
#include "lockstep/run/lines.hpp"

namespace lockstep {

/// A key whose value is not the same in all runs.
struct KeyDifference {
  std::string key;                  // "train.optimizer.lr"
  std::vector<std::string> values;  // by run; "-" where it is absent
};

struct Comparison {
  std::vector<RunHistory> runs{};
  std::vector<KeyDifference> keys{};
  /// By run: the first epoch whose weights are not those of the first run; nothing: those of all common epochs are.
  std::vector<std::optional<std::int64_t>> first_other_epoch{};

  /// The scores that runs are judged by: test, else validation, else training of the last epoch.
  static const Scores* judged(const RunHistory& run);
  /// The run with the smallest loss of these; nothing where no run has one.
  std::optional<std::size_t> best() const;
};

/// Of run directories; Error(data) or Error(usage) for a folder that is none.
Comparison compare_runs(const std::vector<std::filesystem::path>& directories);

/// A table of scores, the differences of the configurations and, on the page, the curves over each other.
report::Document comparison_document(const Comparison& comparison);

}  // namespace lockstep
