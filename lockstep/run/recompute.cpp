#include "lockstep/run/recompute.hpp"

#include "lockstep/core/error.hpp"
#include "lockstep/run/directory.hpp"
#include "lockstep/run/lines.hpp"
#include "lockstep/run/train_run.hpp"

namespace lockstep {

namespace {

/// Ends a fit from one of its callbacks.
struct PathEnds {};

RunOptions options_of_recomputation(Backend backend, int threads) {
  return {
      .set = {"guard.recheck=0", "parallel.pipeline=1", "parallel.tensor=1"}, .backend = backend, .threads = threads};
}

}  // namespace

Recomputation::Recomputation(const std::filesystem::path& directory, Backend backend, int threads, StopRequest stop)
    : alone_(make_self_transport()),
      stop_(std::move(stop)),
      work_((directory / kConfigFile).string(), options_of_recomputation(backend, threads), alone_) {
  RunObserver silent;
  work_.load(silent);
  beginning_ = work_.trainer.state();
}

Recomputation::Path Recomputation::follow(const TrainingState& from, std::int64_t last,
                                          const std::function<void(std::int64_t)>& look) {
  Path path;
  if (last <= from.steps) return path;
  Trainer& trainer = work_.trainer;
  trainer.restore(from);
  std::int64_t done = from.steps;
  const auto on_step = [&](const StepReport& report) {
    if (stop_ && stop_()) throw Error(ErrorCode::preempted, "stopped before its end; nothing was changed");
    ++done;
    path.weights.push_back(weight_hash(work_.network.values()));
    if (look) look(done);
    if (done >= last) path.end = trainer.state();
    if (done >= last && report.step < report.steps) throw PathEnds{};
  };
  const auto on_epoch = [&](const EpochReport& report) {
    path.lines[report.steps] = metrics_line(report);
    if (done >= last) throw PathEnds{};
  };
  try {
    trainer.fit(*work_.data.train, {.epochs = work_.config.epochs - trainer.counts().epoch,
                                    .validation = work_.data.validation.get(),
                                    .on_step = on_step,
                                    .on_epoch = on_epoch});
  } catch (const PathEnds&) {
  }
  return path;
}

}  // namespace lockstep
