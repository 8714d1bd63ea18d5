#include "lockstep/train/optimizer.hpp"

#include <algorithm>
#include <numbers>

namespace lockstep {

namespace {

/// cos(pi t) for t in [0, 1]: its own Taylor series, so that the bits do not depend on a C library.
double cos_pi(double t) {
  if (t > 0.5) return -cos_pi(1 - t);
  const double x = std::numbers::pi * t, square = x * x;
  double sum = 0;
  for (int k = 24; k >= 2; k -= 2) sum = -square / double(k * (k - 1)) * (1 + sum);
  return 1 + sum;
}

}  // namespace

double base_rate(const OptimizerSpec& optimizer) {
  return std::visit([](const auto& o) { return o.lr; }, optimizer);
}

int state_vectors(const OptimizerSpec& optimizer) {
  return std::visit([](const auto& o) { return o.kStateVectors; }, optimizer);
}

double schedule_factor(const Schedule& schedule, std::int64_t step, std::int64_t epoch, std::int64_t total_steps,
                       std::int64_t drops) {
  double factor = 1;
  if (schedule.kind == ScheduleKind::step)
    for (std::int64_t drop = 0; drop < epoch / schedule.every; ++drop) factor *= schedule.factor;
  if (schedule.kind == ScheduleKind::cosine) {
    const double done = double(std::min(step, total_steps)) / double(std::max<std::int64_t>(total_steps, 1));
    factor = schedule.final + (1 - schedule.final) * ((1 + cos_pi(done)) / 2);
  }
  if (schedule.kind == ScheduleKind::one_cycle) {
    const double done = double(std::min(step, total_steps)) / double(std::max<std::int64_t>(total_steps, 1));
    if (done < schedule.peak)
      factor = schedule.start + (1 - schedule.start) * ((1 - cos_pi(done / schedule.peak)) / 2);
    else
      factor = schedule.final + (1 - schedule.final) * ((1 + cos_pi((done - schedule.peak) / (1 - schedule.peak))) / 2);
  }
  if (schedule.kind == ScheduleKind::plateau) {
    for (std::int64_t drop = 0; drop < drops; ++drop) factor *= schedule.factor;
    factor = std::max(factor, schedule.final);
  }
  if (step < schedule.warmup_steps) factor *= double(step + 1) / double(schedule.warmup_steps);
  return factor;
}

}  // namespace lockstep
