#pragma once
// Scores and epochs as JSON: what metrics.jsonl, timings.jsonl and --json hold. Numbers are printed in the shortest
// form that reads back to the same bits, so equal results are equal bytes.

#include <optional>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "lockstep/train/trainer.hpp"

namespace lockstep::cli {

using Json = nlohmann::ordered_json;

/// {"samples": 10000, "loss": 0.31, "correct": 8871, "accuracy": 0.8871}; the last two where there are classes.
Json scores_json(const Scores& scores);
/// A line of metrics.jsonl: under the promise, so no times and nothing about the machine.
Json metrics_json(const EpochReport& report);
/// A line that says so when a training ended far above where it began: with a loss (`last`, of the last epoch or of the
/// final weights) over 10 times that of the first batch. Where there are classes a first loss counts as 1 at least,
/// since any guess has about that, and as 100 at most, since nothing sensible has more.
std::optional<std::string> loss_warning(std::optional<double> first_loss, const Scores& last);
/// What a line of metrics.jsonl says of the scores; nothing when it is not such a line.
std::optional<EpochReport> report_from_metrics(std::string_view line);
/// A line of timings.jsonl: seconds per phase; with several ranks, on these hosts, of each of them too.
Json timings_json(const EpochReport& report, const std::string& backend, const std::vector<std::string>& hosts);

}  // namespace lockstep::cli
