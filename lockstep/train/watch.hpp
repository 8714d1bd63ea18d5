#pragma once
// A number that is watched from epoch to epoch, to stop a training or to lower its learning rate.

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "lockstep/core/fields.hpp"
#include "lockstep/train/metrics.hpp"

namespace lockstep {

/// What is wrong with the name of a metric; "" where nothing is.
std::string metric_name_fault(const std::string& name);

namespace watch_detail {
inline constexpr const char* kMetric =
    "of the validation data: `\"loss\"`, or one of [metrics](#metrics), which is then computed";
inline constexpr const char* kGain = "a smaller gain does not count";
}  // namespace watch_detail

/// Ends a training whose validation does not get better.
struct EarlyStopping {
  std::int64_t patience = 0;
  std::string metric = "loss";
  double min_gain = 0;

  static constexpr auto fields() {
    using E = EarlyStopping;
    constexpr auto known = [](const E& e) { return metric_name_fault(e.metric); };
    return std::tuple{
        field("patience", &E::patience, IntRange{0, 1'000'000'000},
              "epochs without a gain after which training ends; 0: it does not end early, only the best model is kept")
            .needs("the epochs to wait for a gain, for example 10")
            .shorthand(),
        field("metric", &E::metric, watch_detail::kMetric).check(known),
        field("min_gain", &E::min_gain, kNotNegative, watch_detail::kGain)};
  }
  friend bool operator==(const EarlyStopping&, const EarlyStopping&) = default;
};

/// The best value so far, and when it, or a drop of the learning rate, was: what a checkpoint keeps of it.
struct Watch {
  std::optional<double> best{};
  std::int64_t epoch = 0;

  /// Notes the value of an epoch. Returns whether it is the best so far by more than `min_gain`; a NaN never is.
  bool add(double value, std::int64_t at, const Metric& metric, double min_gain);
  friend bool operator==(const Watch&, const Watch&) = default;
};

}  // namespace lockstep
