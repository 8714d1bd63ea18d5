#include "lockstep/lab/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <exception>

#include <fmt/format.h>

#include "lockstep/lab/measure.hpp"
#include "lockstep/lab/statistics.hpp"
#include "lockstep/lab/text_table.hpp"

namespace lockstep {

namespace {

class Sampling {
 public:
  Sampling(const std::vector<SampledVariant>& variants, const SamplingRule& rule)
      : variants_(variants), rule_(rule), start_(now()), longest_(variants.size(), 0), open_(variants.size(), true) {
    for (const SampledVariant& variant : variants) results_.push_back({.name = variant.name});
  }

  std::vector<SampledResult> run() {
    for (std::size_t v = 0; v < variants_.size(); ++v)
      for (int i = 0; i < variants_[v].warm_up && open_[v]; ++i) take(v, results_[v].warm_up);
    while (std::any_of(open_.begin(), open_.end(), [](bool open) { return open; })) {
      for (std::size_t v = 0; v < variants_.size(); ++v)
        if (open_[v]) take(v, results_[v].samples);
      if (rule_.after_round) rule_.after_round(results_);
    }
    return std::move(results_);
  }

 private:
  double now() const { return rule_.now_seconds ? rule_.now_seconds() : steady_seconds(); }

  void close(std::size_t v, SamplingEnd end) {
    results_[v].end = end;
    open_[v] = false;
  }

  bool fits(std::size_t v) const { return now() - start_ + longest_[v] <= rule_.budget_seconds; }

  void take(std::size_t v, std::vector<double>& values) {
    if (rule_.stopped && rule_.stopped()) return close(v, SamplingEnd::stopped);
    const bool warming = &values == &results_[v].warm_up;
    if (!fits(v)) {
      if (!results_[v].samples.empty()) return close(v, SamplingEnd::budget);
      if (warming) return;  // without a warm-up rather than without a sample
    }
    const double begin = now();
    try {
      values.push_back(variants_[v].sample());
    } catch (const std::exception& error) {
      results_[v].failure = error.what();
      return close(v, rule_.stopped && rule_.stopped() ? SamplingEnd::stopped : SamplingEnd::failed);
    }
    longest_[v] = std::max(longest_[v], now() - begin);
    if (warming) return;
    if (is_settled(values, rule_.share, rule_.least)) return close(v, SamplingEnd::settled);
    if (static_cast<int>(values.size()) >= rule_.most) close(v, SamplingEnd::most);
  }

  const std::vector<SampledVariant>& variants_;
  const SamplingRule& rule_;
  double start_;
  std::vector<SampledResult> results_;
  std::vector<double> longest_;
  std::vector<bool> open_;
};

}  // namespace

std::vector<SampledResult> sample_in_turns(const std::vector<SampledVariant>& variants, const SamplingRule& rule) {
  return Sampling(variants, rule).run();
}

bool is_settled(std::span<const double> samples, double share, int least) {
  if (samples.empty() || static_cast<int>(samples.size()) < least) return false;
  const Summary summary = summarise(samples);
  const auto interval = summary.interval.value_or(MedianInterval{summary.min, summary.max});
  return (interval.high - interval.low) / 2 <= share * std::abs(summary.median);
}

std::string unsettled_text(const SampledResult& result, double share) {
  const auto count = static_cast<std::int64_t>(result.samples.size());
  return fmt::format("not settled ({}): {}", to_string(result.end),
                     count < kLeastForInterval
                         ? fmt::format("{}, too few samples for an interval", too_few_text(count))
                         : fmt::format("the interval is wider than {:.0f} % of the median", 100 * share));
}

const char* to_string(SamplingEnd end) {
  constexpr const char* kTexts[] = {"settled", "the most samples allowed", "the time budget ended", "stopped",
                                    "failed"};
  return kTexts[static_cast<std::size_t>(end)];
}

}  // namespace lockstep
