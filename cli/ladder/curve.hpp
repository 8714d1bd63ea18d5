#pragma once
// The whole training of the configuration, for the curves of loss and accuracy.

#include <string>

#include "cli/ladder/measurement.hpp"

namespace lockstep::cli {

/// Which rung trains in full, and how much of it.
struct CurvePlan {
  const RungMeasurement* rung = nullptr;  // null: none keeps the promise
  std::int64_t epochs = 0;
  double seconds = 0;  // expected
};

/// The fastest rung that keeps the promise; as many epochs of the configuration as fit into 45 s.
CurvePlan plan_curve(const LadderMeasurement& ladder);

/// Trains as planned and fills the curve. Returns what went wrong; empty: nothing.
std::string train_curve(const CurvePlan& plan, const Stopped& stopped, LadderMeasurement& ladder);

}  // namespace lockstep::cli
