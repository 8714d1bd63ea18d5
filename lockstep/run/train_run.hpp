#pragma once
// One training run, from a configuration to a run directory:
//
//   RunResult result = train_run("my.toml", {.set = {"train.epochs=1"}, .out = "runs/x", .threads = 2});
//   Model model = load_model(result.directory / "model.safetensors");
//
// For programs of all kinds: it prints nothing, catches no signal, and every failure is an Error. Under mpirun or srun
// all ranks call it. There alone it may end the process: when a rank is lost, or fails where the others cannot, since
// MPI offers no way to continue (docs/design/0024-run.md).

#include <functional>
#include <string>
#include <vector>

#include "lockstep/kernels/backend.hpp"
#include "lockstep/run/observer.hpp"
#include "lockstep/run/result.hpp"

namespace lockstep {

class RankSession;

struct RunOptions {
  std::vector<std::string> set{};  // changes of the configuration: "section.key=value"
  std::string out{};               // the run directory; empty: runs/<config>-<n>
  bool overwrite = false;          // replace an earlier run in `out`
  bool resume = false;             // continue the run in `out` from its last checkpoint
  Backend backend = Backend::simd;
  int threads = 0;           // 0: OMP_NUM_THREADS, else all cores; ranks of one host share them
  bool tensorboard = false;  // write event files, as log.tensorboard
  bool profile = false;      // measure where the time goes: profile.json, trace.json, a table in the result
  bool verbose = false;      // note kernels, processors and the times of the ranks
  std::string command{};     // how the run was started, for machine.json
  /// Asked once per step, on every rank. True on one rank ends the run on all of them after this step: it is saved, and
  /// Error(preempted) says how to continue.
  std::function<bool()> stop{};
  const char* stop_reason = "on request";  // in the message: "stopped on request at epoch 3, ..."
  RunObserver* observer = nullptr;
  RankSession* session = nullptr;  // of a process that has one already (rank_session.hpp); null: one for this run
};

/// Trains the network that the configuration file describes, and writes the run directory. A resumed run ends with the
/// bits of a run that was never stopped. Throws Error; on a rank other than 0 ReportedByRank0 (rank_session.hpp) for an
/// end that all ranks come to.
RunResult train_run(const std::string& config, const RunOptions& options = {});

}  // namespace lockstep
