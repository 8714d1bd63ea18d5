#pragma once
// What repeated measurements say. Times on a shared machine are skewed and have outliers, so everything here rests on
// order: no means, no normal distribution.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lockstep {

/// The interval between two order statistics that holds the median of the distribution with probability `coverage`.
struct MedianInterval {
  double low = 0, high = 0;
  double coverage = 0;  // at least 0.95
};

/// Fewer samples have no interval: even [min, max] holds the median with less than 95 %.
inline constexpr std::int64_t kLeastForInterval = 6;

struct Summary {
  std::int64_t count = 0;
  double median = 0;  // the mean of the middle two of an even count
  double mad = 0;     // median absolute deviation from the median, not scaled
  double min = 0, max = 0;
  std::optional<MedianInterval> interval{};  // nothing where there are too few samples
};

/// Error(bug) for no samples at all.
double median(std::vector<double> samples);

/// The narrowest symmetric interval [x_(k), x_(n+1-k)] of the sorted samples with
/// 1 - 2 P(Binomial(n, 1/2) < k) >= 0.95; nothing for fewer than kLeastForInterval samples. Error(bug) for none.
std::optional<MedianInterval> median_interval(std::vector<double> samples);

Summary summarise(std::span<const double> samples);

}  // namespace lockstep
