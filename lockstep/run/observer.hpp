#pragma once
// What a run tells while it works. The program prints it; other users may log it, draw it, or leave it.

#include <string>

#include "lockstep/run/result.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {

/// Every call comes from the thread that runs train_run, and on rank 0 only, unless its comment says otherwise. Lines
/// are UTF-8 without a newline; text from files is escaped (one_line). What a call throws ends the run.
class RunObserver {
 public:
  virtual ~RunObserver() = default;

  /// A line for people: the data, the folder, the ranks, the kernels.
  virtual void note(const std::string&) {}
  /// Something is wrong, and the run continues.
  virtual void warn(const std::string&) {}
  /// Data, network and run directory are ready; the first step follows. On every rank. From here on a stop request
  /// saves the run. `samples` of one epoch.
  virtual void begin(std::int64_t /*samples*/, std::int64_t /*epochs*/) {}
  virtual void step(const StepReport&) {}
  virtual void epoch(const EpochReport&) {}
  /// The run is complete, its files are written, and the ranks are still connected.
  virtual void done(const RunResult&) {}
  /// A rank is lost, has failed or cannot be watched. On any rank, from any thread, perhaps just before the process is
  /// ended. By default a line on standard error.
  virtual void alarm(const std::string& line);
};

}  // namespace lockstep
