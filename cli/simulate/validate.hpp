#pragma once
// How far simulated steps are from real ones, on as many ranks as this machine (or the hosts given) can run.

#include <optional>

#include "cli/simulate/real_ranks.hpp"
#include "cli/simulate/study.hpp"
#include "lockstep/lab/report/document.hpp"
#include "lockstep/lab/statistics.hpp"

namespace lockstep::cli {

struct ValidationPoint {
  std::string series{};
  int ranks = 2;
  Summary real{};  // seconds of a step
  double simulated = 0, work = 0;
  std::optional<bool> same_bits{};  // nothing where the network is in parts
  bool crowded = false;             // more ranks than cores
  std::string library{};

  double error() const { return simulated / real.median - 1; }
};

/// A cluster whose messages take what these exchanges took, and the settings of SimGrid that make it so.
ClusterRun calibrated_cluster(const std::vector<ExchangeTime>& exchanges, int nodes);

std::vector<ValidationPoint> validate(const Study& study, const Simulator& simulator, const LaunchArguments& launch,
                                      Console& console);

report::Document validation_document(const Study& study, const std::vector<ValidationPoint>& points,
                                     const std::string& config, const std::string& command);

}  // namespace lockstep::cli
