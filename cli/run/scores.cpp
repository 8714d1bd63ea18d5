#include "cli/run/scores.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/run/rank_times.hpp"

namespace lockstep::cli {

namespace {

Json phases_json(const PhaseTimes& times) {
  Json json;
  for (const Phase& phase : kPhases) json[phase.name] = times.*phase.seconds;
  json["validation"] = times.validation;
  json["total"] = times.total;
  return json;
}

}  // namespace

Json scores_json(const Scores& scores) {
  Json json = {{"samples", scores.samples}, {"loss", scores.loss}};
  if (scores.correct) json["correct"] = *scores.correct;
  if (scores.accuracy()) json["accuracy"] = *scores.accuracy();
  return json;
}

Json metrics_json(const EpochReport& report) {
  Json json = {{"epoch", report.epoch}, {"steps", report.steps}, {"lr", report.rate}};
  if (report.epoch == 1 && report.first_loss) json["first_loss"] = *report.first_loss;
  json["train"] = scores_json(report.train);
  if (report.validation) json["validation"] = scores_json(*report.validation);
  json["penalty"] = report.penalty;
  json["weight_hash"] = report.weight_hash;
  return json;
}

std::optional<std::string> loss_warning(std::optional<double> first_loss, const Scores& last) {
  constexpr double kFar = 10, kGuess = 1, kMost = 100;
  if (!first_loss) return std::nullopt;
  const double base = last.correct ? std::clamp(*first_loss, kGuess, kMost) : *first_loss;
  if (!(last.loss > kFar * base)) return std::nullopt;
  return fmt::format(
      "the loss ended at {:.3g}, far above the {:.3g} of the first batch: training diverged; lower "
      "train.optimizer.lr, set train.clip_norm, or scale the data (data.scale, data.standardise)",
      last.loss, *first_loss);
}

std::optional<EpochReport> report_from_metrics(std::string_view line) {
  const auto scores = [](const Json& json) {
    Scores read{.samples = json.at("samples").get<std::int64_t>(), .loss = json.at("loss").get<double>()};
    if (json.contains("correct")) read.correct = json.at("correct").get<std::int64_t>();
    return read;
  };
  try {
    const Json json = Json::parse(line);
    EpochReport report{.epoch = json.at("epoch").get<std::int64_t>(), .steps = json.at("steps").get<std::int64_t>()};
    report.train = scores(json.at("train"));
    if (json.contains("validation")) report.validation = scores(json.at("validation"));
    return report;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

Json timings_json(const EpochReport& report, const std::string& backend, const std::vector<std::string>& hosts) {
  const PhaseTimes& t = report.times;
  Json json = {{"epoch", report.epoch},
               {"backend", backend},
               {"seconds", phases_json(t)},
               {"samples_per_second", t.total > 0 ? double(report.train.samples) / t.total : 0}};
  for (std::size_t rank = 0; rank < report.rank_times.size(); ++rank)
    json["ranks"].push_back({{"rank", rank},
                             {"host", hosts[rank]},
                             {"sent_bytes", report.rank_times[rank].sent_bytes},
                             {"seconds", phases_json(report.rank_times[rank])}});
  return json;
}

}  // namespace lockstep::cli
