#include "cli/reproduce/timing.hpp"

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/lab/measure.hpp"
#include "lockstep/lab/report/results_page.hpp"

namespace lockstep::cli {

void keep_samples(const ExperimentRun& run, const std::string& series, const Variant& variant,
                  std::vector<double> samples, std::vector<std::string> warnings) {
  Result result = variant.line;
  result.name = fmt::format("{}: {}", series, variant.line.name);
  result.samples = std::move(samples);
  if (!variant.baseline.empty() && variant.baseline != variant.line.name)
    result.baseline = fmt::format("{}: {}", series, variant.baseline);
  result.warnings = std::move(warnings);
  run.keep(std::move(result));
}

void time_variants(const ExperimentRun& run, const std::string& series, std::span<const Variant> variants,
                   const SamplingRule& rule) {
  std::vector<SampledVariant> sampled;
  for (const Variant& each : variants)
    sampled.push_back({each.line.name, each.sample ? each.sample : [&each] { return timed_seconds(each.body); }});
  const std::vector<SampledResult> taken = sample_in_turns(sampled, rule);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (taken[i].samples.empty()) {
      run.left_out(variants[i].line.name, taken[i].failure.empty() ? "no time was left for it" : taken[i].failure);
      continue;
    }
    Variant variant = variants[i];
    if (variant.baseline.empty()) variant.baseline = variants[0].line.name;
    std::vector<std::string> warnings;
    if (!taken[i].settled() && rule.share > 0) warnings.push_back(unsettled_text(taken[i], rule.share));
    keep_samples(run, series, variant, taken[i].samples, std::move(warnings));
  }
}

std::string tried_words(const Json& greeting) {
  std::string words;
  const Json tried = greeting.value("tried", Json::object());
  for (const auto& [variant, seconds] : tried.items())
    words += fmt::format("{}{} {:.3g} s", words.empty() ? "" : ", ", variant, seconds.get<double>());
  return words;
}

report::Cell time_cell(const Result& timing) {
  const std::optional<Summary> summary = timing.summary();
  return summary ? report::median_cell(*summary).sampled(timing.samples) : report::Cell();
}

Variant* TrainingContest::add(const std::string& name, Network network, const TrainOptions& options) {
  try {
    auto training = std::make_unique<Training>(std::move(network), options);
    const std::string hash = training->trainer.fit(*data_, {.epochs = 1}).back().weight_hash;
    variants_.push_back({.line = timing_of(name, kernel_record(options.backend, options.threads), hash),
                         .body = [trainer = &training->trainer, data = data_] { trainer->fit(*data, {.epochs = 1}); }});
    trainings_.push_back(std::move(training));
    return &variants_.back();
  } catch (const Error& error) {
    run_.left_out(name, error.what());
    return nullptr;
  }
}

}  // namespace lockstep::cli
