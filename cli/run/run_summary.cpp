#include "cli/run/run_summary.hpp"

#include <fmt/format.h>

#include "cli/commands/verbose.hpp"
#include "cli/run/scores.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/text_table.hpp"

namespace lockstep::cli {

namespace {

std::string backend_name(const RunConfig& config) {
  return backend_names()[static_cast<std::size_t>(config.train.backend)];
}

}  // namespace

std::vector<std::string> RunSummary::files() const {
  std::vector<std::string> names = {kModelFile, kMetricsFile, kTimingsFile, kConfigFile};
  if (std::filesystem::exists(directory.file(kReportFile))) names.insert(names.begin(), kReportFile);
  if (!checkpoint.empty()) names.push_back(checkpoint);
  if (profile != nullptr) names.insert(names.end(), {kProfileFile, kTraceFile});
  return names;
}

std::optional<std::string> RunSummary::warning() const {
  if (!last) return std::nullopt;
  const auto during = loss_warning(first_loss, last->train);
  return during || !final_train ? during : loss_warning(first_loss, *final_train);
}

std::string RunSummary::text() const {
  TextTable scores("lrrr");
  scores.row({"", "samples", "loss", "accuracy"});
  const auto add = [&](const char* name, const Scores& s) {
    scores.row({name, with_commas(s.samples), loss_text(s.loss), percent(s.accuracy())});
  };
  if (last) add("train, during last epoch", last->train);
  if (final_train) add("train, final weights", *final_train);
  if (last && last->validation) add("validation", *last->validation);
  if (test) add("test", *test);
  TextTable facts("ll");
  if (const auto text = warning()) facts.row({"warning", *text});
  facts.row({"epochs", resumed_step ? fmt::format("{}, resumed at step {}", config.epochs, *resumed_step)
                                    : std::to_string(config.epochs)});
  facts.row(
      {"time", fmt::format("{} in steps, {} with validation and checkpoints; {} samples/s, backend {}",
                           duration(step_seconds), duration(seconds), with_prefix(rate()), backend_name(config))});
  facts.row({"weights", fmt::format("{}  ({} parameters, {})", short_hash(weight_hash(network.values())),
                                    with_commas(network.trainable_count()), to_string(network.precision()))});
  if (const auto note = promise_note(config.train.backend)) facts.row({"", *note});
  if (summed_by_mpi()) facts.row({"", "parallel.reduce = \"mpi\": another number of ranks gives other bits"});
  const char* title = "files";
  for (const std::string& name : files()) {
    facts.row({title, one_line(directory.file(name.c_str()).string())});
    title = "";
  }
  const std::string tables = fmt::format("{}\n{}", scores.str(), facts.str());
  return profile == nullptr ? tables : fmt::format("{}\n{}", tables, profile->text());
}

std::string RunSummary::json() const {
  Json json = {{"epochs", config.epochs},
               {"ranks", ranks},
               {"backend", backend_name(config)},
               {"promise", keeps_the_promise(config.train.backend) && !summed_by_mpi()}};
  if (resumed_step) json["resumed_at_step"] = *resumed_step;
  if (const auto text = warning()) json["warning"] = *text;
  if (last) json["train"] = scores_json(last->train);
  if (final_train) json["final_train"] = scores_json(*final_train);
  if (last && last->validation) json["validation"] = scores_json(*last->validation);
  if (test) json["test"] = scores_json(*test);
  json["parameters"] = network.trainable_count();
  json["weight_hash"] = weight_hash(network.values());
  json["seconds"] = seconds;
  json["samples_per_second"] = rate();
  json["directory"] = directory.path().string();
  if (profile != nullptr) json["profile"] = profile->json();
  return fmt::format("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace lockstep::cli
