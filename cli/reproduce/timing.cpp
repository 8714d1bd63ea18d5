#include "cli/reproduce/timing.hpp"

#include <chrono>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"

namespace lockstep::cli {

void keep_samples(const ExperimentRun& run, const std::string& series, const Variant& variant,
                  const std::string& baseline, std::vector<double> samples) {
  Result result{.kind = "measurement", .name = fmt::format("{}: {}", series, variant.name)};
  result.samples = std::move(samples);
  if (baseline != variant.name) result.baseline = fmt::format("{}: {}", series, baseline);
  result.numbers = variant.numbers;
  result.words = variant.words;
  result.weight_hash = variant.weight_hash;
  run.keep(std::move(result));
}

void time_variants(const ExperimentRun& run, const std::string& series, std::span<const Variant> variants,
                   const SamplingRule& rule) {
  std::vector<SampledVariant> sampled;
  for (const Variant& each : variants)
    sampled.push_back({each.name, [&each] {
                         const auto start = std::chrono::steady_clock::now();
                         each.body();
                         return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
                       }});
  const std::vector<SampledResult> taken = sample_in_turns(sampled, rule);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (taken[i].samples.empty())
      run.left_out(variants[i].name, taken[i].failure.empty() ? "no time was left for it" : taken[i].failure);
    else
      keep_samples(run, series, variants[i], variants[0].name, taken[i].samples);
  }
}

report::Cell time_cell(const Result& timing) {
  const std::optional<Summary> summary = timing.summary();
  if (!summary) return {};
  report::Cell cell(summary->median);
  cell.sampled(timing.samples);
  if (summary->interval.coverage >= 0.95) cell.interval(summary->interval.low, summary->interval.high);
  return cell;
}

}  // namespace lockstep::cli
