#include "cli/commands/train.hpp"

#include <optional>

#include <fmt/format.h>

#include "cli/output/option_names.hpp"
#include "cli/output/progress.hpp"
#include "cli/process/stop_signal.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/parallel/watchdog.hpp"

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

void run_train(TrainArguments arguments, Console& console) {
  PrintedRun observer(console);
  arguments.options.observer = &observer;
  arguments.options.stop = stop_requested;
  train_run(arguments.config, arguments.options);
}

}  // namespace lockstep::cli
