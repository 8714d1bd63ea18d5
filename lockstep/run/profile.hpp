#pragma once
// Where the time of a run goes, beside the peak of the machine and the time of one thread.

#include <optional>
#include <string>

#include "lockstep/data/source.hpp"
#include "lockstep/lab/profile.hpp"
#include "lockstep/run/directory.hpp"
#include "lockstep/run/observer.hpp"

namespace lockstep {

inline constexpr double kBaselineSeconds = 1.5;

/// The same training on one thread, for a few steps of a copy of the network.
struct Baseline {
  Profile profile{};
  double seconds = 0;  // of the measurement, warm-up included
};

/// One step to warm up, then the steps that fit into about `seconds` (at least one), and a part of the validation set.
/// Nothing when these steps diverge. The network itself does not change.
std::optional<Baseline> measure_baseline(const Network& network, const TrainOptions& options, const DataSplits& data,
                                         double seconds = kBaselineSeconds);

class RunProfile {
 public:
  /// Measures the peak of the machine and, with several threads, the baseline; neither for a device. options.threads is
  /// not 0.
  RunProfile(const Network& network, const TrainOptions& options, const DataSplits& data, RunObserver& observer);

  /// For FitOptions::profile.
  Profile& spans() { return spans_; }

  /// The table and its legend.
  std::string text() const;
  /// The same as JSON, indented.
  std::string json() const;
  /// trace.json and profile.json.
  void write(const RunDirectory& directory) const;

 private:
  ProfileQuestion question() const;
  std::string notes() const;
  std::string device_kernels() const;
  /// The smallest share of a thread's time that spans cover.
  double explained() const;

  Profile spans_;
  bool on_device_ = false;
  double peak_flops_ = 0;
  int peak_threads_ = 1;
  Precision precision_;
  std::string isa_;
  double span_cost_ns_ = 0;
  std::optional<Baseline> baseline_;
};

}  // namespace lockstep
