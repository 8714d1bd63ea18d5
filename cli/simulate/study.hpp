#pragma once
// Which plans are simulated on how many nodes, and what came out.

#include <functional>
#include <string>
#include <vector>

#include "cli/simulate/cluster_run.hpp"

namespace lockstep::cli {

enum class ScalingKind { strong, weak };

/// One way to share the work of a step.
struct Series {
  std::string name;  // "tree", "gather", "mpi", "tensor", "pipeline"
  RankReduction reduce = RankReduction::tree;
  bool tensor = false, pipeline = false;
};

/// All of them.
const std::vector<Series>& all_series();

struct StudyPoint {
  ScalingKind scaling = ScalingKind::strong;
  std::string series{};
  int nodes = 1;
  StepPlan plan{};
  std::string left_out{};  // why it was not simulated; empty: it was
  SimulatedStep step{};
  double predicted = 0;  // by the alpha-beta model, in seconds

  double seconds() const { return step.seconds.back(); }
  /// Of the rank that works longest.
  double work_seconds() const;
};

struct Study {
  StepPlan plan{};  // on one node
  ClusterSpec cluster{};
  std::vector<int> nodes{};
  std::vector<ScalingKind> scalings{};
  std::vector<Series> series{};
  int parts = 4;
  double timeout = 120;
};

/// Strong: the batch of one node for all. Weak: a batch of that size for each, with as many slots more.
StepPlan plan_on(const Study& study, ScalingKind scaling, const Series& series, int nodes);

/// All points, in the order of scaling, series and nodes. The first of every series is on one node, asked for or not.
/// A series ends where a simulation takes too long or needs more memory than there is; the points say so.
/// `begins` hears of every simulation.
std::vector<StudyPoint> run_study(const Study& study, const Simulator& simulator, const SectionRates& rates,
                                  const std::function<void(const StudyPoint&)>& begins);

/// Time on one node over time here, in the same series; times the nodes where each has a batch of its own.
double speedup(const std::vector<StudyPoint>& points, const StudyPoint& point);

}  // namespace lockstep::cli
