#include "lockstep/lab/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lockstep/core/error.hpp"

namespace lockstep {

namespace {

constexpr double kWanted = 0.95;

void require_samples(std::size_t count) {
  if (count == 0) throw Error(ErrorCode::bug, "statistics of no samples");
}

}  // namespace

double median(std::vector<double> samples) {
  require_samples(samples.size());
  const std::size_t half = samples.size() / 2;
  std::sort(samples.begin(), samples.end());
  return samples.size() % 2 == 1 ? samples[half] : std::midpoint(samples[half - 1], samples[half]);
}

std::optional<MedianInterval> median_interval(std::vector<double> samples) {
  require_samples(samples.size());
  if (static_cast<std::int64_t>(samples.size()) < kLeastForInterval) return std::nullopt;
  std::sort(samples.begin(), samples.end());
  const auto n = static_cast<std::int64_t>(samples.size());
  // tail = P(Binomial(n, 1/2) < k): each sample lies below the median with probability 1/2. Logarithms, because 2^-n
  // underflows for the counts a long benchmark can reach.
  double log_term = -double(n) * std::log(2.0);  // of P(Binomial = k - 1), k = 1
  double tail = std::exp(log_term);
  MedianInterval interval{samples.front(), samples.back(), 1 - 2 * tail};
  for (std::int64_t k = 2; 2 * k <= n; ++k) {
    log_term += std::log(double(n - k + 2) / double(k - 1));
    tail += std::exp(log_term);
    if (1 - 2 * tail < kWanted) break;
    interval = {samples[static_cast<std::size_t>(k - 1)], samples[static_cast<std::size_t>(n - k)], 1 - 2 * tail};
  }
  return interval;
}

Summary summarise(std::span<const double> samples) {
  require_samples(samples.size());
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
  Summary summary{.count = static_cast<std::int64_t>(samples.size()),
                  .median = median({samples.begin(), samples.end()}),
                  .min = *least,
                  .max = *most,
                  .interval = median_interval({samples.begin(), samples.end()})};
  std::vector<double> deviations;
  for (const double sample : samples) deviations.push_back(std::abs(sample - summary.median));
  summary.mad = median(std::move(deviations));
  return summary;
}

}  // namespace lockstep
