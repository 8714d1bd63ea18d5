#include "lockstep/lab/measure.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lockstep {

namespace {

/// How one body is sampled.
struct Plan {
  std::int64_t calls = 1;  // per sample
  int samples = 0;         // still to take
};

Plan plan_for(double call_seconds, const MeasureOptions& options) {
  Plan plan;
  plan.calls = std::max<std::int64_t>(std::llround(options.sample_seconds / std::max(call_seconds, 1e-9)), 1);
  const double sample_seconds = call_seconds * double(plan.calls);
  const double affordable = options.seconds / std::max(sample_seconds, 1e-9);
  plan.samples = static_cast<int>(std::clamp(affordable, double(options.least), double(options.most)));
  return plan;
}

}  // namespace

TimedBody timed(std::function<void()> body) {
  return [body = std::move(body)](std::int64_t calls) {
    const double seconds = timed_seconds([&] {
      for (std::int64_t i = 0; i < calls; ++i) body();
    });
    return seconds / double(calls);
  };
}

std::vector<std::vector<double>> measure_in_turns(std::span<const TimedBody> bodies, const MeasureOptions& options) {
  std::vector<std::vector<double>> samples(bodies.size());
  std::vector<Plan> plans(bodies.size());
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const double first = bodies[b](1);
    if (first > options.seconds) {
      samples[b].push_back(first);
    } else {
      // The first call also paid for cold caches: ask again before deciding how many calls make a sample.
      plans[b] = plan_for(std::min(first, bodies[b](1)), options);
    }
  }
  const auto left = [](const Plan& plan) { return plan.samples > 0; };
  while (std::any_of(plans.begin(), plans.end(), left))
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      if (plans[b].samples == 0) continue;
      samples[b].push_back(bodies[b](plans[b].calls));
      --plans[b].samples;
    }
  return samples;
}

}  // namespace lockstep
