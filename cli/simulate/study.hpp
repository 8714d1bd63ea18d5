#pragma once
// Which plans are simulated on how many nodes, and what came out.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/simulate/cluster_run.hpp"
#include "lockstep/lab/record.hpp"

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
  bool bandwidth_given = false, latency_given = false;  // by the user: a validation does not measure them then
  std::vector<int> nodes{};
  std::vector<ScalingKind> scalings{};
  std::vector<Series> series{};
  int parts = 4;
  double timeout = 120;
};

/// The computing times of one core, by the number of ranks that split the layers; 1 is always among them.
using StudyRates = std::map<int, SectionRates>;

/// {"1": rates, "2": ...}, or plain rates for every number. Error(usage) when it is neither.
StudyRates parse_study_rates(const std::string& json);
std::string study_rates_json(const StudyRates& rates);

/// Measures those that the study needs.
StudyRates measure_study_rates(const Study& study);

/// Strong: the batch of one node for all. Weak: a batch of that size for each, with slots in proportion to the nodes.
StepPlan plan_on(const Study& study, ScalingKind scaling, const Series& series, int nodes);

/// Called when a simulation begins, and with every point when it is known.
struct StudyListener {
  std::function<void(const StudyPoint&)> begins, ends;
};

/// All points, in the order of scaling, series and nodes. The first of every series is on one node, asked for or not.
/// A series ends where a simulation takes too long or needs more memory than there is; the points say so.
std::vector<StudyPoint> run_study(const Study& study, const Simulator& simulator, const StudyRates& rates,
                                  const StudyListener& listener);

/// Time on one node over time here, in the same series; times the nodes where each has a batch of its own.
double speedup(const std::vector<StudyPoint>& points, const StudyPoint& point);

}  // namespace lockstep::cli

template <>
inline constexpr std::array lockstep::kNames<lockstep::cli::ScalingKind> = {"strong", "weak"};
