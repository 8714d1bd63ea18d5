#include "lockstep/run/result.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/words.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/run/directory.hpp"
#include "lockstep/run/lines.hpp"
#include "lockstep/run/verbose.hpp"

namespace lockstep {

namespace {

using Json = nlohmann::ordered_json;

std::string backend_name(const RunConfig& config) {
  return backend_names()[static_cast<std::size_t>(config.train.backend)];
}

/// A table of the metrics of validation and test; "" where there are none.
std::string metrics_text(const RunResult& result) {
  const Scores* const validation = result.last && result.last->validation ? &*result.last->validation : nullptr;
  const Scores* const other = result.test ? &*result.test : result.final_train ? &*result.final_train : nullptr;
  const Scores* const known = validation != nullptr ? validation : other;
  if (known == nullptr || known->metrics.empty()) return "";
  TextTable table("lrr");
  const bool both = validation != nullptr && other != nullptr;
  const char* const other_name = result.test ? "test" : "train";
  table.row({"metric", validation != nullptr ? "validation" : other_name, both ? other_name : ""});
  for (std::size_t i = 0; i < known->metrics.size(); ++i)
    table.row({known->metrics[i].name, metric_text(known->metrics[i].value),
               both && i < other->metrics.size() ? metric_text(other->metrics[i].value) : ""});
  return fmt::format("{}\n", table.str());
}

}  // namespace

std::string metric_text(double value) { return std::isnan(value) ? "-" : fmt::format("{:.4g}", value); }

std::vector<std::string> RunResult::files() const {
  std::vector<std::string> names = {kModelFile, kMetricsFile, kTimingsFile, kConfigFile};
  if (std::filesystem::exists(directory / kReportFile)) names.insert(names.begin(), kReportFile);
  if (last && last->best_epoch && std::filesystem::exists(directory / kBestModelFile))
    names.emplace_back(kBestModelFile);
  if (!checkpoint.empty()) names.push_back(checkpoint);
  if (!profile_text.empty()) names.insert(names.end(), {kProfileFile, kTraceFile});
  return names;
}

std::optional<std::string> RunResult::warning() const {
  if (!last) return std::nullopt;
  const auto during = loss_warning(first_loss, last->train);
  return during || !final_train ? during : loss_warning(first_loss, *final_train);
}

std::string RunResult::text() const {
  TextTable scores("lrrr");
  scores.row({"", "samples", "loss", "accuracy"});
  const auto add = [&](const char* name, const Scores& s) {
    scores.row({name, with_commas(s.samples), loss_text(s.loss), percent(s.accuracy())});
  };
  if (last) add("train, during last epoch", last->train);
  if (final_train) add("train, final weights", *final_train);
  if (last && last->validation) add("validation", *last->validation);
  if (test) add("test", *test);
  const std::string extra = metrics_text(*this);
  TextTable facts("ll");
  if (const auto text = warning()) facts.row({"warning", *text});
  std::string epochs = std::to_string(config.epochs);
  if (last && last->stops) epochs = fmt::format("{} of {}, stopped early", last->epoch, config.epochs);
  if (resumed_step) epochs += fmt::format(", resumed at step {}", *resumed_step);
  facts.row({"epochs", epochs});
  if (last && last->best_epoch)
    facts.row(
        {"best", fmt::format("epoch {}, by validation {}", *last->best_epoch, config.train.early_stopping->metric)});
  facts.row(
      {"time", fmt::format("{} in steps, {} with validation and checkpoints; {} samples/s, backend {}",
                           duration(step_seconds), duration(seconds), with_prefix(rate()), backend_name(config))});
  facts.row({"weights", fmt::format("{}  ({} parameters, {})", short_hash(weight_hash), with_commas(parameters),
                                    to_string(config.model.precision))});
  if (const auto note = promise_note(config.train.backend)) facts.row({"", *note});
  if (summed_by_mpi()) facts.row({"", "parallel.reduce = \"mpi\": another number of ranks gives other bits"});
  const char* title = "files";
  for (const std::string& name : files()) {
    facts.row({title, one_line((directory / name).string())});
    title = "";
  }
  const std::string tables = fmt::format("{}\n{}{}", scores.str(), extra, facts.str());
  return profile_text.empty() ? tables : fmt::format("{}\n{}", tables, profile_text);
}

std::string RunResult::json() const {
  Json json = {{"epochs", config.epochs},
               {"ranks", ranks},
               {"threads", threads},
               {"step_threads", step_threads},
               {"backend", backend_name(config)},
               {"promise", keeps_the_promise(config.train.backend) && !summed_by_mpi()}};
  if (!threads_note.empty()) json["threads_note"] = threads_note;
  if (resumed_step) json["resumed_at_step"] = *resumed_step;
  if (const auto text = warning()) json["warning"] = *text;
  const auto add = [&](const char* name, const Scores& scores) { json[name] = Json::parse(scores_json(scores)); };
  if (last) add("train", last->train);
  if (final_train) add("final_train", *final_train);
  if (last && last->validation) add("validation", *last->validation);
  if (last && last->best_epoch) json["best_epoch"] = *last->best_epoch;
  if (last && last->stops) json["stopped_early"] = last->epoch;
  if (test) add("test", *test);
  json["parameters"] = parameters;
  json["weight_hash"] = weight_hash;
  json["seconds"] = seconds;
  json["samples_per_second"] = rate();
  json["directory"] = directory.string();
  if (!profile_json.empty()) json["profile"] = Json::parse(profile_json);
  return fmt::format("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace lockstep
