#include "cli/train.hpp"

#include <chrono>
#include <csignal>

#include <fmt/format.h>

#include "cli/model_data.hpp"
#include "cli/profile.hpp"
#include "cli/progress.hpp"
#include "cli/run_directory.hpp"
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

// The model file is kept current, but not more often than this: it is synchronised to the disk each time, and epochs
// of small networks take milliseconds. A kill loses the longer of one epoch and these seconds.
constexpr std::chrono::seconds kBetweenSaves{2};

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
                                  .overwrite = arguments_.overwrite};
    check_run_directory(out);
    Trainer trainer = make_trainer();
    load(trainer);
    const RunDirectory directory(out);
    write_file_atomically(directory.file(kConfigFile), resolved_toml(config_));
    LineFile metrics(directory.file(kMetricsFile)), timings(directory.file(kTimingsFile));
    console_.note(fmt::format("writing to {}", one_line(directory.path().string())));
    if (arguments_.verbose)
      for (const std::string& line :
           verbose_lines(config_.train.backend, network_.precision(), trainer.options().threads))
        console_.note(line);
    if (arguments_.profile) profile_.emplace(network_, trainer.options(), data_, console_);
    fit(trainer, directory, metrics, timings);
    save_model(directory.file(kModelFile), network_, info_);
    if (profile_) profile_->write(directory);
    if (data_.test) {
      test_ = trainer.evaluate(*data_.test);
      metrics.append(Json{{"test", scores_json(*test_)}, {"weight_hash", weight_hash(network_.values())}}.dump());
    }
    console_.print(console_.json() ? json(directory) : summary(directory));
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
    console_.note(fmt::format("train on {} ({})", one_line(data_.train->describe()),
                              duration(std::chrono::duration<double>(Clock::now() - start).count())));
  }

  void fit(Trainer& trainer, const RunDirectory& directory, LineFile& metrics, LineFile& timings) {
    Progress progress(console_, data_.train->size(), config_.epochs);
    catch_signals();
    const auto start = Clock::now();
    auto saved = start;
    const auto on_step = [&](const StepReport& report) {
      progress.step(report);
      if (stop_signal != 0) throw Interrupted{report.epoch, report.step, report.steps};
    };
    const auto on_epoch = [&](const EpochReport& report) {
      metrics.append(metrics_json(report).dump());
      timings.append(timings_json(report, backend_name()).dump());
      progress.epoch(report);
      last_ = report;
      if (Clock::now() - saved < kBetweenSaves) return;
      save_model(directory.file(kModelFile), network_, info_);
      saved = Clock::now();
    };
    try {
      trainer.fit(*data_.train, {.epochs = config_.epochs,
                                 .validation = data_.validation.get(),
                                 .on_step = on_step,
                                 .on_epoch = on_epoch,
                                 .profile = profile_ ? &profile_->spans() : nullptr});
    } catch (const Interrupted& at) {
      save_model(directory.file(kModelFile), network_, info_);
      throw Error(ExitCode::preempted,
                  fmt::format("stopped by a signal at epoch {}, step {} of {}; {} holds the weights", at.epoch, at.step,
                              at.steps, directory.file(kModelFile).string()));
    }
    seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
  }

  std::string backend_name() const { return backend_names()[static_cast<std::size_t>(config_.train.backend)]; }
  double rate() const { return seconds_ > 0 ? double(data_.train->size()) * double(config_.epochs) / seconds_ : 0; }

  std::string summary(const RunDirectory& directory) const {
    TextTable scores("lrrr");
    scores.row({"", "samples", "loss", "accuracy"});
    const auto add = [&](const char* name, const Scores& s) {
      scores.row({name, with_commas(s.samples), loss_text(s.loss), percent(s.accuracy())});
    };
    if (last_) add("train, last epoch", last_->train);
    if (last_ && last_->validation) add("validation", *last_->validation);
    if (test_) add("test", *test_);
    TextTable facts("ll");
    facts.row({"epochs", std::to_string(config_.epochs)});
    facts.row(
        {"time", fmt::format("{}, {} samples/s, backend {}", duration(seconds_), with_prefix(rate()), backend_name())});
    facts.row({"weights", fmt::format("{}  ({} parameters, {})", short_hash(weight_hash(network_.values())),
                                      with_commas(network_.trainable_count()), to_string(network_.precision()))});
    if (const auto note = promise_note(config_.train.backend)) facts.row({"", *note});
    for (const char* name : {kModelFile, kMetricsFile, kTimingsFile, kConfigFile})
      facts.row({name == kModelFile ? "files" : "", one_line(directory.file(name).string())});
    if (!profile_) return fmt::format("{}\n{}", scores.str(), facts.str());
    for (const char* name : {kProfileFile, kTraceFile}) facts.row({"", one_line(directory.file(name).string())});
    return fmt::format("{}\n{}\n{}", scores.str(), facts.str(), profile_->text());
  }

  std::string json(const RunDirectory& directory) const {
    Json json = {
        {"epochs", config_.epochs}, {"backend", backend_name()}, {"promise", keeps_the_promise(config_.train.backend)}};
    if (last_) json["train"] = scores_json(last_->train);
    if (last_ && last_->validation) json["validation"] = scores_json(*last_->validation);
    if (test_) json["test"] = scores_json(*test_);
    json["parameters"] = network_.trainable_count();
    json["weight_hash"] = weight_hash(network_.values());
    json["seconds"] = seconds_;
    json["samples_per_second"] = rate();
    json["directory"] = directory.path().string();
    if (profile_) json["profile"] = profile_->json();
    return fmt::format("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
  }

  Console& console_;
  const TrainArguments& arguments_;
  RunConfig config_;
  Network network_;
  DataSplits data_{};
  ModelInfo info_{};
  std::optional<EpochReport> last_{};
  std::optional<Scores> test_{};
  std::optional<RunProfile> profile_{};
  double seconds_ = 0;
};

}  // namespace

void run_train(const TrainArguments& arguments, Console& console) { TrainRun(arguments, console).run(); }

}  // namespace lockstep::cli
