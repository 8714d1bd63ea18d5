#include "cli/train.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "cli/checkpoints.hpp"
#include "cli/model_data.hpp"
#include "cli/profile.hpp"
#include "cli/progress.hpp"
#include "cli/resume.hpp"
#include "cli/run_directory.hpp"
#include "cli/run_summary.hpp"
#include "cli/scores.hpp"
#include "cli/text_table.hpp"
#include "cli/verbose.hpp"
#include "lockstep/config/config.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/data/views.hpp"

namespace lockstep::cli {

namespace {

using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t stop_signal = 0;

extern "C" void note_signal(int number) { stop_signal = number; }

/// The first signal asks training to stop; a second one of the same kind has its usual effect.
void catch_signals() {
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
}

struct Interrupted {
  std::int64_t epoch, step, steps;
};

/// Runs the checks of the trainer on every part of the data before a run directory is made for them.
void check_fit(const Trainer& trainer, const DataSplits& data, const std::string& name) {
  try {
    for (const auto& part : {data.train, data.validation, data.test})
      if (part) static_cast<void>(trainer.evaluate(SubsetDataset(part, 0, 0)));
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", name, error.what()));
  }
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The files that grow with the run.
struct RunLines {
  RunLines(const RunDirectory& directory, const KeptLines& kept)
      : metrics(directory.file(kMetricsFile), kept.metrics_bytes),
        timings(directory.file(kTimingsFile), kept.timings_bytes) {}
  LineFile metrics, timings;
};

/// One training run: what it works on, and what it has seen so far.
class TrainRun {
 public:
  TrainRun(const TrainArguments& arguments, Console& console)
      : console_(console),
        arguments_(arguments),
        config_(load_config(arguments.config, arguments.set)),
        network_(make_network(config_)) {
    config_.train.backend = arguments.backend;
    config_.train.threads = arguments.threads;
  }

  void run() {
    const RunDirectoryOptions out{.path = arguments_.out,
                                  .name = std::filesystem::path(arguments_.config).stem().string(),
                                  .overwrite = arguments_.overwrite,
                                  .resume = arguments_.resume};
    check_run_directory(out);
    Trainer trainer = make_trainer();
    // A run that is there is held, and its configuration compared, before the data are loaded; a new folder is made
    // only when nothing stands against the run any more.
    std::unique_ptr<const RunDirectory> directory;
    std::optional<Checkpoint> from;
    if (arguments_.resume && std::filesystem::exists(arguments_.out)) {
      directory = std::make_unique<RunDirectory>(out);
      from = find_checkpoint(*directory, config_, console_);
    }
    load(trainer);
    if (!directory) directory = std::make_unique<RunDirectory>(out);
    const std::string digest = from ? check_same_data(*from, *directory, data_) : "";
    const KeptLines kept = from ? check_lines(*from, *directory) : KeptLines{};
    if (from) trainer.restore(from->state);
    if (!from) directory->clear();
    write_file_atomically(directory->file(kConfigFile), resolved_toml(config_));
    RunLines lines(*directory, kept);
    RunSummary summary{.config = config_, .network = network_, .directory = *directory, .last = kept.last};
    if (from) summary.resumed_step = from->state.steps;
    from.reset();
    begin(trainer, *directory);
    RunCheckpoints checkpoints({*directory, config_, network_, info_, data_, lines.metrics, lines.timings},
                               summary.resumed_step.value_or(0), digest);
    fit(trainer, checkpoints, lines, summary);
    finish(trainer, lines, summary);
  }

 private:
  Trainer make_trainer() {
    try {
      return Trainer(network_, config_.train);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}: {}", config_.name, error.what()));
    }
  }

  void load(const Trainer& trainer) {
    const auto start = Clock::now();
    data_ = load_data(config_.data);
    check_fit(trainer, data_, config_.name);
    info_.loss = config_.train.loss;
    describe_data(config_.data, data_, info_);
    console_.note(fmt::format("train on {} ({})", one_line(data_.train->describe()), duration(seconds_since(start))));
  }

  /// Says what is about to happen.
  void begin(const Trainer& trainer, const RunDirectory& directory) {
    console_.note(fmt::format("writing to {}", one_line(directory.path().string())));
    if (arguments_.verbose)
      for (const std::string& line :
           verbose_lines(config_.train.backend, network_.precision(), trainer.options().threads))
        console_.note(line);
    if (arguments_.profile) profile_.emplace(network_, trainer.options(), data_, console_);
  }

  void fit(Trainer& trainer, RunCheckpoints& checkpoints, RunLines& lines, RunSummary& summary) {
    const TrainingState before = trainer.state();
    if (summary.resumed_step) note_resumed(before);
    Progress progress(console_, data_.train->size(), config_.epochs);
    catch_signals();
    const auto start = Clock::now();
    const auto on_step = [&](const StepReport& report) {
      progress.step(report);
      checkpoints.step(trainer, report);
      if (stop_signal != 0) throw Interrupted{report.epoch, report.step, report.steps};
    };
    const auto on_epoch = [&](const EpochReport& report) {
      lines.metrics.append(metrics_json(report).dump());
      lines.timings.append(timings_json(report, backend_name()).dump());
      progress.epoch(report);
      summary.last = report;
    };
    try {
      trainer.fit(*data_.train, {.epochs = config_.epochs - before.epoch,
                                 .validation = data_.validation.get(),
                                 .on_step = on_step,
                                 .on_epoch = on_epoch,
                                 .profile = profile_ ? &profile_->spans() : nullptr});
    } catch (const Interrupted& at) {
      checkpoints.save(trainer);
      save_model(summary.directory.file(kModelFile), network_, info_);
      const std::string folder = summary.directory.path().string();
      throw Error(ExitCode::preempted,
                  fmt::format("stopped by a signal at epoch {}, step {} of {}, and saved; to go on: lockstep train {} "
                              "--out {} --resume",
                              at.epoch, at.step, at.steps, summary.directory.file(kConfigFile).string(), folder));
    }
    summary.seconds = seconds_since(start);
    summary.samples = (config_.epochs - before.epoch) * data_.train->size() - before.samples;
    summary.checkpoint = checkpoints.save(trainer);
  }

  void note_resumed(const TrainingState& state) {
    if (state.epoch >= config_.epochs)
      console_.note(
          fmt::format("the run is complete: {} epochs, {} steps; nothing is left to train, more train.epochs "
                      "would go on",
                      state.epoch, state.steps));
    else
      console_.note(
          fmt::format("going on from step {}: epoch {}, batch {}", state.steps, state.epoch + 1, state.batch + 1));
  }

  void finish(const Trainer& trainer, RunLines& lines, RunSummary& summary) {
    save_model(summary.directory.file(kModelFile), network_, info_);
    if (profile_) {
      profile_->write(summary.directory);
      summary.profile = &*profile_;
    }
    if (data_.test) {
      summary.test = trainer.evaluate(*data_.test);
      lines.metrics.append(
          Json{{"test", scores_json(*summary.test)}, {"weight_hash", weight_hash(network_.values())}}.dump());
    }
    console_.print(console_.json() ? summary.json() : summary.text());
  }

  std::string backend_name() const { return backend_names()[static_cast<std::size_t>(config_.train.backend)]; }

  Console& console_;
  const TrainArguments& arguments_;
  RunConfig config_;
  Network network_;
  DataSplits data_{};
  ModelInfo info_{};
  std::optional<RunProfile> profile_{};
};

}  // namespace

void run_train(const TrainArguments& arguments, Console& console) {
  if (arguments.resume && arguments.out.empty())
    throw Error(ExitCode::usage, "--resume needs --out DIR: the folder of the run to go on with");
  if (arguments.resume && arguments.overwrite)
    throw Error(ExitCode::usage, "--resume keeps the run in --out and --overwrite replaces it; give one of them");
  TrainRun(arguments, console).run();
}

}  // namespace lockstep::cli
