#include "cli/ladder/measurement.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "cli/process/tools.hpp"
#include "lockstep/lab/statistics.hpp"
#include "lockstep/run/directory.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

constexpr double kCurveSeconds = 45;

void read_curve(const fs::path& file, CurveRecord& curve) {
  std::ifstream lines(file);
  const auto add = [](const Json& line, const char* part, const char* key, std::vector<double>& into) {
    if (line.contains(part) && line[part].contains(key) && line[part][key].is_number())
      into.push_back(line[part][key].get<double>());
  };
  for (std::string text; std::getline(lines, text);) {
    const Json line = Json::parse(text, nullptr, false);
    if (!line.is_object()) continue;
    add(line, "train", "loss", curve.loss);
    add(line, "train", "accuracy", curve.accuracy);
    add(line, "validation", "loss", curve.validation_loss);
    add(line, "validation", "accuracy", curve.validation_accuracy);
    if (line.contains("test") && line["test"].contains("accuracy"))
      curve.test_accuracy = line["test"]["accuracy"].get<double>();
  }
}

}  // namespace

CurvePlan plan_curve(const LadderMeasurement& ladder) {
  CurvePlan plan;
  double best = 0;
  for (const RungMeasurement& each : ladder.rungs) {
    if (each.mark != WeightMark::same || each.rung.ranks > 1 || each.sampled.samples.empty()) continue;
    const double rate = double(each.samples) / median(each.sampled.samples);
    if (rate > best) {
      best = rate;
      plan.rung = &each;
    }
  }
  if (plan.rung == nullptr) return plan;
  const double epoch = double(ladder.epoch_samples) / best;
  plan.epochs = std::min<std::int64_t>(ladder.config.epochs, static_cast<std::int64_t>(kCurveSeconds / epoch));
  plan.seconds = double(plan.epochs) * epoch;
  return plan;
}

std::string train_curve(const CurvePlan& plan, const Stopped& stopped, LadderMeasurement& ladder) {
  const fs::path folder = ladder.setting.scratch / "curve";
  const Rung& rung = plan.rung->rung;
  std::vector<std::string> words = {own_program(), "train", ladder.setting.config, "--json", "--quiet", "--overwrite"};
  words.insert(words.end(),
               {"--out", folder.string(), "--backend", rung.backend, "--threads", std::to_string(rung.threads)});
  for (const std::string& change : ladder.setting.set) words.insert(words.end(), {"--set", change});
  words.insert(words.end(), {"--set", fmt::format("train.epochs={}", plan.epochs)});
  const Captured end = run_captured(words, {.patience = milliseconds_of(10 * kCurveSeconds), .stopped = stopped});
  if (!end.ok()) return end.reason();
  ladder.curve.rung = rung.title;
  const Json json = Json::parse(end.out, nullptr, false);
  if (json.is_object() && json.contains("seconds")) ladder.curve.seconds = json["seconds"].get<double>();
  read_curve(folder / kMetricsFile, ladder.curve);
  return "";
}

}  // namespace lockstep::cli
