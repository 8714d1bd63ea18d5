#include "lockstep/run/lines.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lockstep {

namespace {

using Json = nlohmann::ordered_json;

Json phases_json(const PhaseTimes& times) {
  Json json;
  for (const Phase& phase : kPhases) json[phase.name] = times.*phase.seconds;
  json["validation"] = times.validation;
  json["total"] = times.total;
  return json;
}

Json scores_object(const Scores& scores) {
  Json json = {{"samples", scores.samples}, {"loss", scores.loss}};
  if (scores.correct) json["correct"] = *scores.correct;
  if (scores.accuracy()) json["accuracy"] = *scores.accuracy();
  return json;
}

}  // namespace

std::string scores_json(const Scores& scores) { return scores_object(scores).dump(); }

std::string metrics_line(const EpochReport& report) {
  Json json = {{"epoch", report.epoch}, {"steps", report.steps}, {"lr", report.rate}};
  if (report.epoch == 1 && report.first_loss) json["first_loss"] = *report.first_loss;
  json["train"] = scores_object(report.train);
  if (report.validation) json["validation"] = scores_object(*report.validation);
  json["penalty"] = report.penalty;
  json["weight_hash"] = report.weight_hash;
  return json.dump();
}

std::string final_line(const char* part, const Scores& scores, const std::string& weight_hash) {
  return Json{{part, scores_object(scores)}, {"weight_hash", weight_hash}}.dump();
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

std::string timings_line(const EpochReport& report, const std::string& backend, const std::vector<std::string>& hosts,
                         std::optional<double> scatter_seconds) {
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
  if (scatter_seconds) json["seconds"]["scatter"] = *scatter_seconds;
  return json.dump();
}

}  // namespace lockstep
