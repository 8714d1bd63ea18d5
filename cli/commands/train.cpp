// lockstep train CONFIG.toml: trains the network of the configuration and writes the run directory. A signal (SIGINT,
// SIGTERM) ends the run after the present step: it is saved and Error(preempted) says how to continue.

#include <memory>
#include <optional>

#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/output/option_names.hpp"
#include "cli/output/progress.hpp"
#include "cli/process/stop_signal.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/parallel/watchdog.hpp"
#include "lockstep/run/find_rate.hpp"
#include "lockstep/run/train_run.hpp"

namespace lockstep::cli {

namespace {

/// Prints what a run tells; signals are caught once there is something to save.
class PrintedRun final : public RunObserver {
 public:
  explicit PrintedRun(Console& console) : console_(console) {}

  void note(const std::string& line) override { console_.note(with_option_names(line)); }
  void warn(const std::string& line) override { console_.fail(fmt::format("lockstep: warning: {}", line)); }
  void begin(std::int64_t samples, std::int64_t epochs) override {
    progress_.emplace(console_, samples, epochs);
    catch_stop_signals();
  }
  void step(const StepReport& report) override { progress_->step(report); }
  void epoch(const EpochReport& report) override { progress_->epoch(report); }
  void done(const RunResult& result) override {
    if (const std::string curve = progress_ ? progress_->curve() : ""; !curve.empty()) console_.note(curve);
    if (const auto warning = result.warning()) console_.note(fmt::format("lockstep: warning: {}", *warning));
    console_.print(console_.json() ? result.json() : result.text());
  }
  void alarm(const std::string& line) override {
    write_line(fmt::format("{}lockstep: {}", erase_, one_line(with_option_names(line))));
  }

 private:
  Console& console_;
  const std::string erase_ = console_.animated() ? "\r\x1b[K" : "";  // the console is not for other threads
  std::optional<Progress> progress_{};
};

}  // namespace

RunCommand train_command(Options& options) {
  struct Arguments {
    std::string config{};
    RunOptions run{};
    bool find_rate = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  RunOptions& run = arguments->run;
  run.command = options.typed();
  options.examples(R"(Examples:
  lockstep train examples/moons.toml
  lockstep train examples/lenet5-fashion.toml --set train.optimizer.lr=0.01 --set model.precision=float64
  lockstep train my.toml --out runs/try --overwrite --json --quiet
  lockstep train my.toml --out runs/try --resume
  lockstep train my.toml --find-lr

The run directory holds config.toml (everything resolved: training it again gives the same weights),
metrics.jsonl, timings.jsonl, the two last checkpoints (checkpoint.every_minutes, checkpoint.every_steps) and
model.safetensors, machine.json and report.html; with train.early_stopping also model-best.safetensors, with
--profile also profile.json and trace.json.)");
  options.argument("config", arguments->config, {"CONFIG.toml", "The configuration"});
  options.set(run.set);
  options.backend(run.backend);
  options.threads(run.threads);
  options.verbose(run.verbose);
  options.flag("--profile", run.profile,
               "Tell where the time went: a table, profile.json, and trace.json for ui.perfetto.dev");
  options.flag("--tensorboard", run.tensorboard, "Write event files for TensorBoard into the run directory");
  options.text("-o,--out", run.out, {"DIR", "The run directory; default: runs/<config>-<n>"});
  options.flag("--overwrite", run.overwrite, "Replace an earlier run in --out");
  options.flag("--resume", run.resume,
               "Go on with the run in --out from its last checkpoint: the result is that of a run never stopped");
  options.flag("--find-lr", arguments->find_rate,
               "Take steps at rising learning rates, print the loss of each and a rate to begin with; trains nothing");
  return [arguments](Console& console) {
    PrintedRun observer(console);
    arguments->run.observer = &observer;
    arguments->run.stop = stop_requested;
    arguments->run.stop_reason = "by a signal";
    if (arguments->find_rate) {
      const RateCurve curve = find_rate(arguments->config, arguments->run);
      std::vector<double> losses;
      for (const RateTrial& point : curve.points) losses.push_back(point.smooth);
      if (losses.size() > 2) console.note(fmt::format("loss over rising rates {}", sparkline(losses, 50)));
      console.print(console.json() ? curve.json() : curve.text());
      return;
    }
    train_run(arguments->config, arguments->run);
  };
}

}  // namespace lockstep::cli
