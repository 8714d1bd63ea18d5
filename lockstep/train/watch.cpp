#include "lockstep/train/watch.hpp"

#include <cmath>

#include <fmt/format.h>

namespace lockstep {

std::string metric_name_fault(const std::string& name) {
  return metric_named(name) ? "" : fmt::format("unknown metric \"{}\"; there are {}", name, metric_names());
}

bool Watch::add(double value, std::int64_t at, const Metric& metric, double min_gain) {
  if (std::isnan(value)) return false;
  const bool better = !best || (metric.lower_is_better() ? value < *best - min_gain : value > *best + min_gain);
  if (!better) return false;
  best = value;
  epoch = at;
  return true;
}

}  // namespace lockstep
