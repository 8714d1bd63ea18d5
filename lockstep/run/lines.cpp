#include "lockstep/run/lines.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/run/directory.hpp"

namespace lockstep {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

Json phases_json(const PhaseTimes& times) {
  Json json;
  for (const Phase& phase : kPhases) json[phase.name] = times.*phase.seconds;
  json["validation"] = times.validation;
  json["total"] = times.total;
  return json;
}

constexpr const char* kPerClass = "_per_class";

Json scores_object(const Scores& scores) {
  Json json = {{"samples", scores.samples}, {"loss", scores.loss}};
  if (scores.correct) json["correct"] = *scores.correct;
  if (scores.accuracy()) json["accuracy"] = *scores.accuracy();
  for (const MetricValue& metric : scores.metrics) {
    json[metric.name] = metric.value;
    if (!metric.per_class.empty()) json[metric.name + kPerClass] = metric.per_class;
  }
  return json;
}

/// The objects of a file of JSON lines.
std::vector<Json> read_lines(const fs::path& path) {
  std::vector<Json> out;
  const std::string text = read_text(path, kMostShownBytes);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    Json line = Json::parse(text.begin() + static_cast<std::ptrdiff_t>(at),
                            text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (!line.is_object())
      throw Error(ErrorCode::data, fmt::format("{}:{}: no JSON object; the file is damaged, or of another program",
                                               path.string(), out.size() + 1));
    out.push_back(std::move(line));
    at = end + 1;
  }
  return out;
}

std::map<std::string, double> phases_of(const Json& json) {
  std::map<std::string, double> out;
  for (const auto& [name, value] : json.items()) out[name] = value.get<double>();
  return out;
}

void add_up(std::map<std::string, double>& sum, const std::map<std::string, double>& more) {
  for (const auto& [name, value] : more) sum[name] += value;
}

Scores scores_of(const Json& json) {
  Scores scores{.samples = json.at("samples").get<std::int64_t>(),
                .loss = json.at("loss").is_number() ? json.at("loss").get<double>() : std::nan("")};
  if (json.contains("correct")) scores.correct = json.at("correct").get<std::int64_t>();
  for (const auto& [name, value] : json.items()) {
    const auto metric = metric_named(name);
    if (!metric || metric->kind == MetricKind::loss || metric->kind == MetricKind::accuracy) continue;
    scores.metrics.push_back({name, value.is_number() ? value.get<double>() : std::nan("")});
    if (json.contains(name + kPerClass))
      scores.metrics.back().per_class = json.at(name + kPerClass).get<std::vector<double>>();
  }
  return scores;
}

EpochReport epoch_of(const Json& line) {
  EpochReport report{.epoch = line.at("epoch").get<std::int64_t>(), .steps = line.at("steps").get<std::int64_t>()};
  report.rate = line.at("lr").get<double>();
  report.train = scores_of(line.at("train"));
  if (line.contains("validation")) report.validation = scores_of(line.at("validation"));
  if (line.contains("best_epoch")) report.best_epoch = line.at("best_epoch").get<std::int64_t>();
  report.stops = line.contains("stops");
  if (line.contains("weight_hash")) report.weight_hash = line.at("weight_hash").get<std::string>();
  return report;
}

void add_metrics(RunHistory& history, const Json& line) {
  if (line.contains("weight_hash")) history.weight_hash = line.at("weight_hash").get<std::string>();
  if (line.contains("test")) {
    history.test = scores_of(line.at("test"));
    return;
  }
  if (line.contains("final_train")) {
    history.final_train = scores_of(line.at("final_train"));
    return;
  }
  if (line.contains("first_loss")) history.first_loss = line.at("first_loss").get<double>();
  history.epochs.push_back({.scores = epoch_of(line)});
}

void add_timings(RunHistory& history, const Json& line) {
  const auto epoch = line.at("epoch").get<std::int64_t>();
  const std::map<std::string, double> phases = phases_of(line.at("seconds"));
  history.backend = line.at("backend").get<std::string>();
  add_up(history.phases, phases);
  for (RunEpoch& known : history.epochs)
    if (known.scores.epoch == epoch) {
      if (const auto total = phases.find("total"); total != phases.end()) known.seconds = total->second;
      known.samples_per_second = line.at("samples_per_second").get<double>();
    }
  if (!line.contains("ranks")) return;
  const Json& ranks = line.at("ranks");
  history.rank_phases.resize(std::max(history.rank_phases.size(), ranks.size()));
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    add_up(history.rank_phases[rank], phases_of(ranks.at(rank).at("seconds")));
}

}  // namespace

std::string scores_json(const Scores& scores) { return scores_object(scores).dump(); }

std::string metrics_line(const EpochReport& report) {
  Json json = {{"epoch", report.epoch}, {"steps", report.steps}, {"lr", report.rate}};
  if (report.epoch == 1 && report.first_loss) json["first_loss"] = *report.first_loss;
  json["train"] = scores_object(report.train);
  if (report.validation) json["validation"] = scores_object(*report.validation);
  if (report.best_epoch) json["best_epoch"] = *report.best_epoch;
  if (report.stops) json["stops"] = true;
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

RunHistory read_history(const fs::path& directory) {
  RunHistory history;
  history.name = fs::absolute(directory).lexically_normal().filename().string();
  if (history.name.empty()) history.name = directory.string();  // it ended with a slash
  try {
    for (const Json& line : read_lines(directory / kMetricsFile)) add_metrics(history, line);
    if (fs::exists(directory / kTimingsFile))
      for (const Json& line : read_lines(directory / kTimingsFile)) add_timings(history, line);
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::data,
                fmt::format("{}: the metrics or timings are not those of a run: {}", directory.string(), error.what()));
  }
  return history;
}

std::optional<EpochReport> report_from_metrics(std::string_view line) {
  try {
    return epoch_of(Json::parse(line));
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace lockstep
