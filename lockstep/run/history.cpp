#include "lockstep/run/history.hpp"

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

/// The objects of a file of JSON lines.
std::vector<Json> read_lines(const fs::path& path) {
  std::vector<Json> out;
  const std::string text = read_text(path, kMostShownBytes);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    Json line = Json::parse(text.begin() + static_cast<std::ptrdiff_t>(at),
                            text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (!line.is_object())
      throw Error(ExitCode::data, fmt::format("{}:{}: no JSON object; the file is damaged, or of another program",
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
  return scores;
}

EpochReport epoch_of(const Json& line) {
  EpochReport report{.epoch = line.at("epoch").get<std::int64_t>(), .steps = line.at("steps").get<std::int64_t>()};
  report.rate = line.at("lr").get<double>();
  report.train = scores_of(line.at("train"));
  if (line.contains("validation")) report.validation = scores_of(line.at("validation"));
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

RunHistory read_history(const fs::path& directory) {
  RunHistory history;
  history.name = fs::absolute(directory).lexically_normal().filename().string();
  if (history.name.empty()) history.name = directory.string();  // it ended with a slash
  try {
    for (const Json& line : read_lines(directory / kMetricsFile)) add_metrics(history, line);
    if (fs::exists(directory / kTimingsFile))
      for (const Json& line : read_lines(directory / kTimingsFile)) add_timings(history, line);
  } catch (const Json::exception& error) {
    throw Error(ExitCode::data,
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
