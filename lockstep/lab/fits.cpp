#include "lockstep/lab/fits.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "lockstep/core/philox.hpp"
#include "lockstep/lab/statistics.hpp"

namespace lockstep {

namespace {

constexpr int kDraws = 1000;
constexpr double kFarOff = 0.25;       // of a share: what no cache explains
constexpr double kSlightlyOff = 0.05;  // what the caches of several cores bring

using Medians = std::vector<std::pair<double, double>>;  // workers, seconds
using Parameters = std::vector<double>;

/// What a law is: how its parameters follow from medians, and its speed-up from them.
struct Law {
  ScalingLaw name;
  std::vector<std::optional<FittedValue> LawFit::*> parameters;
  std::function<std::optional<Parameters>(const Medians&)> solve;
  std::function<double(const Parameters&, double)> speedup;
};

/// Numbers below `bound`, the same in every run: a report drawn again shows the same bands.
class Draw {
 public:
  std::size_t below(std::size_t bound) {
    const auto word = philox4x32_10({counter_++, 0, 0, 0}, {0x6c61620aU, 0x66697473U})[0];
    return static_cast<std::size_t>((std::uint64_t{word} * bound) >> 32);
  }

 private:
  std::uint32_t counter_ = 0;
};

Medians medians_of(const std::vector<ScalingPoint>& points) {
  Medians medians;
  for (const ScalingPoint& point : points)
    if (!point.samples.empty()) medians.emplace_back(point.workers, median(point.samples));
  return medians;
}

Medians drawn_again(const std::vector<ScalingPoint>& points, Draw& draw) {
  Medians medians;
  for (const ScalingPoint& point : points) {
    if (point.samples.empty()) continue;
    std::vector<double> again;
    for (std::size_t i = 0; i < point.samples.size(); ++i)
      again.push_back(point.samples[draw.below(point.samples.size())]);
    medians.emplace_back(point.workers, median(std::move(again)));
  }
  return medians;
}

std::optional<double> time_of_one(const Medians& medians) {
  for (const auto& [workers, seconds] : medians)
    if (workers == 1 && seconds > 0) return seconds;
  return std::nullopt;
}

FittedValue with_interval(double value, std::vector<double> draws) {
  std::sort(draws.begin(), draws.end());
  const auto at = [&](double share) {
    return draws[static_cast<std::size_t>(std::lround(share * double(draws.size() - 1)))];
  };
  return {value, std::min(at(0.025), value), std::max(at(0.975), value)};
}

std::optional<LawFit> fit(const Law& law, const std::vector<ScalingPoint>& points, double to) {
  const Medians medians = medians_of(points);
  if (medians.size() < law.parameters.size() + 1 || !time_of_one(medians)) return std::nullopt;
  const auto best = law.solve(medians);
  if (!best) return std::nullopt;
  LawFit result{.law = law.name};
  result.exact = medians.size() == law.parameters.size() + 1;
  Draw draw;
  std::vector<Parameters> draws;
  for (int i = 0; i < kDraws; ++i)
    if (const auto again = law.solve(drawn_again(points, draw))) draws.push_back(*again);
  if (draws.empty()) return std::nullopt;
  for (std::size_t k = 0; k < law.parameters.size(); ++k) {
    std::vector<double> values;
    for (const Parameters& each : draws) values.push_back(each[k]);
    result.*law.parameters[k] = with_interval((*best)[k], std::move(values));
  }
  for (double workers = 1; workers <= to; workers += to > 16 ? to / 16 : 0.5) {
    std::vector<double> values;
    for (const Parameters& each : draws) values.push_back(law.speedup(each, workers));
    const FittedValue value = with_interval(law.speedup(*best, workers), std::move(values));
    result.workers.push_back(workers);
    result.speedup.push_back(value.value);
    result.low.push_back(value.low);
    result.high.push_back(value.high);
  }
  return result;
}

/// Least squares of y = a x through the origin; nothing where there is no x.
std::optional<Parameters> slope(const std::vector<std::pair<double, double>>& xy) {
  double above = 0, below = 0;
  for (const auto& [x, y] : xy) {
    above += x * y;
    below += x * x;
  }
  if (below <= 0) return std::nullopt;
  return Parameters{above / below};
}

std::optional<Parameters> solve_amdahl(const Medians& medians) {
  std::vector<std::pair<double, double>> xy;
  const double one = *time_of_one(medians);
  for (const auto& [p, seconds] : medians) xy.emplace_back(1 - 1 / p, seconds / one - 1 / p);
  return slope(xy);
}

std::optional<Parameters> solve_gustafson(const Medians& medians) {
  std::vector<std::pair<double, double>> xy;
  const double one = *time_of_one(medians);
  for (const auto& [p, seconds] : medians) xy.emplace_back(p - 1, p - p * one / seconds);
  return slope(xy);
}

std::optional<Parameters> solve_usl(const Medians& medians) {
  // Normal equations of y = a x + b z with x = p - 1, z = p (p - 1).
  double xx = 0, xz = 0, zz = 0, xy = 0, zy = 0;
  const double one = *time_of_one(medians);
  for (const auto& [p, seconds] : medians) {
    const double x = p - 1, z = p * (p - 1), y = p * seconds / one - 1;
    xx += x * x;
    xz += x * z;
    zz += z * z;
    xy += x * y;
    zy += z * y;
  }
  const double determinant = xx * zz - xz * xz;
  if (std::abs(determinant) <= 1e-12 * xx * zz) return std::nullopt;
  return Parameters{(xy * zz - zy * xz) / determinant, (zy * xx - xy * xz) / determinant};
}

}  // namespace

double amdahl_speedup(double serial, double workers) { return 1 / (serial + (1 - serial) / workers); }

double karp_flatt(double speedup, double workers) { return (1 / speedup - 1 / workers) / (1 - 1 / workers); }

bool is_share(const FittedValue& fitted) {
  return fitted.low <= 1 + kSlightlyOff && fitted.high >= -kSlightlyOff && fitted.value >= -kFarOff &&
         fitted.value <= 1 + kFarOff;
}

bool is_efficiency(double share) { return share >= 0 && share <= 1 + kFarOff; }

bool disagrees(double predicted, const FittedValue& fitted, double slack) {
  return predicted < fitted.low - slack || predicted > fitted.high + slack;
}

std::optional<LawFit> fit_amdahl(const std::vector<ScalingPoint>& points, double to) {
  return fit({ScalingLaw::amdahl,
              {&LawFit::serial},
              solve_amdahl,
              [](const Parameters& p, double n) { return amdahl_speedup(p[0], n); }},
             points, to);
}

std::optional<LawFit> fit_gustafson(const std::vector<ScalingPoint>& points, double to) {
  return fit({ScalingLaw::gustafson,
              {&LawFit::serial},
              solve_gustafson,
              [](const Parameters& p, double n) { return n - p[0] * (n - 1); }},
             points, to);
}

std::optional<LawFit> fit_usl(const std::vector<ScalingPoint>& points, double to) {
  return fit({ScalingLaw::usl,
              {&LawFit::contention, &LawFit::coherence},
              solve_usl,
              [](const Parameters& p, double n) { return n / (1 + p[0] * (n - 1) + p[1] * n * (n - 1)); }},
             points, to);
}

}  // namespace lockstep
