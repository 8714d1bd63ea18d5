#include "cli/commands/train.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "cli/commands/model_data.hpp"
#include "cli/commands/verbose.hpp"
#include "cli/output/option_names.hpp"
#include "cli/output/progress.hpp"
#include "cli/run/checkpoints.hpp"
#include "cli/run/profile.hpp"
#include "cli/run/rank_map.hpp"
#include "cli/run/rank_session.hpp"
#include "cli/run/rank_times.hpp"
#include "cli/run/resume.hpp"
#include "cli/run/run_directory.hpp"
#include "cli/run/run_report.hpp"
#include "cli/run/run_status.hpp"
#include "cli/run/run_summary.hpp"
#include "cli/run/scatter.hpp"
#include "cli/run/scores.hpp"
#include "lockstep/config/config.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/targets.hpp"
#include "lockstep/data/views.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/kernels/device/device.hpp"
#include "lockstep/kernels/slots.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/model/preparation.hpp"
#include "lockstep/parallel/watchdog.hpp"

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
void check_fit(const Trainer& trainer, const DataSplits& data, const RunConfig& config) {
  try {
    for (const auto& part : {data.train, data.validation, data.test})
      if (part) trainer.check(*part);
  } catch (const Error& error) {
    const auto place = config.data.places.find("source");
    throw Error(error.code(),
                fmt::format("{}: data.source: {}", place != config.data.places.end() ? place->second : config.name,
                            error.what()));
  }
}

/// The rows of the last Theta in a .mat file follow the labels (theta.hpp), but are read before them: Error(usage) when
/// the labels turn out to follow another rule.
void check_rows(const RunConfig& config, const DataSplits& data, const Network& network) {
  const bool guessed = config.model.init_file.ends_with(".mat") && config.data.label_rule.empty();
  if (!guessed || data.label_rule.empty() || parse_label_rule(data.label_rule) == LabelRule::as_stored) return;
  const LabelRule rule = one_based_rule(network.output().elements());
  const std::string& rows = label_rule_names()[static_cast<std::size_t>(rule)];
  if (rows != data.label_rule)
    throw Error(
        ExitCode::usage,
        fmt::format("{}: model.init: the {} rows of the last Theta in {} are taken as \"{}\", but the labels of {} "
                    "as \"{}\"; say in data.label_rule what holds for both",
                    config.name, network.output().elements(), config.model.init_file, rows, config.data.source,
                    data.label_rule));
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The files that grow with the run.
struct RunLines {
  RunLines(const RunDirectory& directory, const KeptLines& kept)
      : metrics(directory.file(kMetricsFile), kept.metrics_bytes),
        timings(directory.file(kTimingsFile), kept.timings_bytes) {}
  LineFile metrics, timings;
};

/// One training run, or one rank of it: what it works on, and what it has seen so far.
class TrainRun {
 public:
  TrainRun(const TrainArguments& arguments, Console& console, Ranks& ranks, RunStatus& status)
      : console_(console), arguments_(arguments), ranks_(ranks), status_(status) {}

  /// Rank 0, or the only one: writes the run directory and speaks.
  void lead() {
    std::unique_ptr<const RunDirectory> directory;
    std::optional<Checkpoint> from;
    std::string digest;
    KeptLines kept;
    prepare_together(ranks_, [&] {
      make_network_and_trainer();
      prepare(directory, from);
      if (from) digest = check_same_data(*from, *directory, data_);
      if (from) kept = check_lines(*from, *directory);
    });
    scatter();
    share_beginning(from, digest);
    if (from) trainer_->restore(from->state);
    if (!from) directory->clear();
    write_file_atomically(directory->file(kConfigFile), resolved_toml(config_));
    status_.begin(directory->path(), ranks_.size(), config_.epochs);
    RunLines lines(*directory, kept);
    RunSummary summary{.config = config_, .network = *network_, .directory = *directory, .last = kept.last};
    if (from) summary.resumed_step = from->state.steps;
    if (from) summary.first_loss = from->state.first_loss;
    summary.ranks = ranks_.size();
    from.reset();
    origin_ = origin_record({.command = arguments_.command,
                             .backend = backend_name(),
                             .threads = on_device(config_.train.backend) ? 0 : trainer_->options().threads,
                             .ranks = ranks_.size(),
                             .hosts = hosts_});
    begin(*directory);
    RunCheckpoints checkpoints({*directory, config_, *network_, info_, data_, lines.metrics, lines.timings},
                               summary.resumed_step.value_or(0), digest);
    fit(checkpoints, lines, summary);
    finish(lines, summary);
    status_.decide(static_cast<int>(ExitCode::done), "");
    status_.write();
  }

  /// Another rank: the same training, without a word.
  void follow() {
    prepare_together(ranks_, [&] {
      make_network_and_trainer();
      if (!config_.data.from_rank0) load();
    });
    scatter();
    check_agreement(ranks_, config_, data_);
    ranks_.all_gather(ranks_.transport().host(), "beginning");
    const std::string checkpoint = ranks_.broadcast("", "beginning");
    if (!checkpoint.empty())
      trainer_->restore(parse_checkpoint(std::as_bytes(std::span(checkpoint)), "the checkpoint of rank 0").state);
    gather_places(ranks_, trainer_->options().threads);
    catch_signals();
    ranks_.note_phase("training");
    const auto on_step = [](const StepReport& report) {
      if (report.requests.stop) throw SilentEnd{};
    };
    trainer_->fit(*data_.train, {.epochs = config_.epochs - trainer_->state().epoch,
                                 .validation = data_.validation.get(),
                                 .requests = [](std::int64_t) { return StepRequests{.stop = stop_signal != 0}; },
                                 .on_step = on_step});
    if (const Dataset* last = finally_scored()) trainer_->evaluate(*last);
  }

 private:
  void make_network_and_trainer() {
    config_ = load_config(arguments_.config, arguments_.set);
    config_.train.backend = arguments_.backend;
    config_.train.threads = arguments_.threads;
    if (arguments_.threads == 0 && ranks_.size() > 1) config_.train.threads = threads_of_rank(ranks_.transport());
    network_.emplace(make_network(config_));
    note_initial_weights();
    try {
      trainer_.emplace(*network_, config_.train, ranks_);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}: {}", misfit_origin(config_), error.what()));
    }
  }

  void note_initial_weights() {
    const std::string& file = config_.model.init_file;
    if (!file.ends_with(".safetensors")) return;
    if (const auto note = seal_note(file, read_sealed(file).seal)) console_.note(*note);
  }

  /// A run that is there is held, and its configuration compared, before the data are loaded; a new folder is made only
  /// when nothing stands against the run any more.
  void prepare(std::unique_ptr<const RunDirectory>& directory, std::optional<Checkpoint>& from) {
    const RunDirectoryOptions out{.path = arguments_.out,
                                  .name = std::filesystem::path(arguments_.config).stem().string(),
                                  .overwrite = arguments_.overwrite,
                                  .resume = arguments_.resume};
    check_run_directory(out);
    if (arguments_.resume && std::filesystem::exists(arguments_.out)) {
      directory = std::make_unique<RunDirectory>(out);
      from = find_checkpoint(*directory, config_, console_);
    }
    load();
    if (!directory) directory = std::make_unique<RunDirectory>(out);
  }

  /// Where there are other ranks: that they begin with the same, and where.
  void share_beginning(const std::optional<Checkpoint>& from, std::string& digest) {
    if (ranks_.size() == 1) return;
    digest = check_agreement(ranks_, config_, data_);
    hosts_ = ranks_.all_gather(ranks_.transport().host(), "beginning");
    std::string bytes;
    if (from) {
      const std::vector<std::byte> file = write_checkpoint(from->model.network, info_, from->state, from->run);
      bytes.assign(reinterpret_cast<const char*>(file.data()), file.size());
    }
    ranks_.broadcast(bytes, "beginning");
    const int threads = trainer_->options().threads;
    console_.note(fmt::format("{} ({}), {}", count_of(ranks_.size(), "rank"), ranks_.transport().describe(),
                              on_device(config_.train.backend) ? "a device each, in turns where there are fewer"
                                                               : fmt::format("{} each", count_of(threads, "thread"))));
    note_places();
    const TrainOptions& options = config_.train;
    const std::int64_t batch = options.batch > 0 ? options.batch : data_.train->size();
    const std::int64_t slots = options.slots > 0 ? options.slots : auto_slots(batch);
    if (slots < ranks_.size())
      console_.note(
          fmt::format("a batch of {} has {}: {} without samples; a larger train.batch or train.slots feeds them", batch,
                      count_of(slots, "slot"), count_of(ranks_.size() - slots, "rank")));
  }

  /// Where the ranks are, and whether the launcher has given them room for their threads.
  void note_places() {
    const std::vector<RankPlace> places = gather_places(ranks_, trainer_->options().threads);
    oversubscribed_ = is_oversubscribed(places);
    if (arguments_.verbose)
      for (const std::string& line : rank_map(places)) console_.note(line);
    const std::optional<Launcher> launcher = find_launcher();
    if (const auto note = binding_note(places, launcher)) console_.note(*note);
  }

  void load() {
    ranks_.note_phase("loading");
    const auto start = Clock::now();
    data_ = load_data(config_.data);
    for (const std::string& note : data_.notes) console_.note(one_line(note));
    check_fit(*trainer_, data_, config_);
    check_rows(config_, data_, *network_);
    info_.loss = config_.train.loss;
    describe_data(config_.data, data_, info_);
    console_.note(fmt::format("train on {} ({})", one_line(data_.train->describe()), duration(seconds_since(start))));
  }

  /// data.from = "rank0": the others get what rank 0 has read.
  void scatter() {
    check_readers(ranks_, config_.data.from_rank0);
    if (!config_.data.from_rank0) return;
    ranks_.note_phase("scatter");
    const auto start = Clock::now();
    data_ = scatter_data(ranks_, data_, network_->precision());
    scatter_seconds_ = seconds_since(start);
    if (ranks_.size() > 1)
      console_.note(fmt::format("rank 0 has sent the data to {} other rank{} ({})", ranks_.size() - 1,
                                ranks_.size() == 2 ? "" : "s", duration(*scatter_seconds_)));
  }

  /// Says what is about to happen.
  void begin(const RunDirectory& directory) {
    console_.note(fmt::format("writing to {}", one_line(directory.path().string())));
    if (on_device(config_.train.backend))
      console_.note("kernels that this device has not run before are compiled in the first step, which takes seconds");
    if (arguments_.verbose)
      for (const std::string& line :
           verbose_lines(config_.train.backend, network_->precision(), trainer_->options().threads))
        console_.note(line);
    if (arguments_.profile) profile_.emplace(*network_, trainer_->options(), data_, console_);
  }

  void fit(RunCheckpoints& checkpoints, RunLines& lines, RunSummary& summary) {
    const TrainingState before = trainer_->state();
    if (summary.resumed_step) note_resumed(before);
    status_.note(before.epoch, before.steps);
    steps_before_ = before.steps;
    std::int64_t done = before.steps;
    Progress progress(console_, data_.train->size(), config_.epochs);
    catch_signals();
    ranks_.note_phase("training");
    const auto start = Clock::now();
    const auto requests = [&](std::int64_t steps) {
      return StepRequests{.stop = stop_signal != 0, .save = checkpoints.is_due(steps)};
    };
    const auto on_step = [&](const StepReport& report) {
      progress.step(report);
      status_.note(report.epoch, ++done);
      if (report.requests.save) checkpoints.start(*trainer_);
      if (report.requests.stop) throw Interrupted{report.epoch, report.step, report.steps};
    };
    const auto on_epoch = [&](const EpochReport& report) {
      lines.metrics.append(metrics_json(report).dump());
      Json timings = timings_json(report, backend_name(), hosts_);
      if (scatter_seconds_) timings["seconds"]["scatter"] = *scatter_seconds_;  // before the first epoch of this start
      scatter_seconds_.reset();
      lines.timings.append(timings.dump());
      progress.epoch(report);
      tell_of_ranks(report);
      summary.last = report;
      summary.first_loss = report.first_loss;
      summary.step_seconds += report.times.total;
    };
    try {
      trainer_->fit(*data_.train, {.epochs = config_.epochs - before.epoch,
                                   .validation = data_.validation.get(),
                                   .requests = requests,
                                   .on_step = on_step,
                                   .on_epoch = on_epoch,
                                   .profile = profile_ ? &profile_->spans() : nullptr});
    } catch (const Interrupted& at) {
      ranks_.note_phase("saving");
      checkpoints.save(*trainer_);
      const std::string folder = summary.directory.path().string();
      const Error stopped(
          ExitCode::preempted,
          fmt::format("stopped by a signal at epoch {}, step {} of {}, and saved; to go on: lockstep "
                      "train {} --out {} --resume",
                      at.epoch, at.step, at.steps, summary.directory.file(kConfigFile).string(), folder));
      // Now: mpirun gives its ranks a second after a signal.
      status_.decide(static_cast<int>(stopped.code()), stopped.what());
      status_.write();
      save_model(summary.directory.file(kModelFile), *network_, info_);
      write_run_report(summary.directory.path(), origin_, console_);
      throw stopped;
    }
    summary.seconds = seconds_since(start);
    summary.samples = (config_.epochs - before.epoch) * data_.train->size() - before.samples;
    ranks_.note_phase("saving");
    summary.checkpoint = checkpoints.save(*trainer_);
  }

  /// Where the time of the ranks went, and, once in a run, which of them the others wait for.
  void tell_of_ranks(const EpochReport& report) {
    if (report.rank_times.empty()) return;
    const std::int64_t steps = report.steps - std::exchange(steps_before_, report.steps);
    if (arguments_.verbose)
      for (const std::string& line : rank_time_lines(report.rank_times, steps)) console_.note(line);
    // Parts of a network have different work, and ranks that share processors hold each other up.
    const bool comparable = config_.train.parallel.pipeline * config_.train.parallel.tensor == 1 && !oversubscribed_;
    const auto straggler = comparable ? stragglers_.add(report.rank_times, steps) : std::nullopt;
    if (!straggler) return;
    console_.note(
        fmt::format("rank {} on {} is a straggler: its own work takes {:.2f} times that of the others, which "
                    "wait for it; is something else running there, or its clock lower?",
                    straggler->rank, hosts_[static_cast<std::size_t>(straggler->rank)], straggler->ratio));
  }

  void note_resumed(const TrainingState& state) {
    if (state.epoch >= config_.epochs)
      console_.note(fmt::format("the run is complete: {}, {}; nothing is left to train, more train.epochs would go on",
                                count_of(state.epoch, "epoch"), count_of(state.steps, "step")));
    else
      console_.note(
          fmt::format("going on from step {}: epoch {}, batch {}", state.steps, state.epoch + 1, state.batch + 1));
  }

  void finish(RunLines& lines, RunSummary& summary) {
    save_model(summary.directory.file(kModelFile), *network_, info_);
    if (profile_) {
      profile_->write(summary.directory);
      summary.profile = &*profile_;
    }
    if (const Dataset* last = finally_scored()) {
      const Scores scores = trainer_->evaluate(*last);
      (data_.test ? summary.test : summary.final_train) = scores;
      lines.metrics.append(Json{{data_.test ? "test" : "final_train", scores_json(scores)},
                                {"weight_hash", weight_hash(network_->values())}}
                               .dump());
    }
    if (const auto warning = summary.warning()) console_.note(fmt::format("lockstep: warning: {}", *warning));
    write_run_report(summary.directory.path(), origin_, console_);
    console_.print(console_.json() ? summary.json() : summary.text());
  }

  /// What the final weights are scored on: the test set; the training set where no other set tells of them, since the
  /// scores that training saw on its way belong to earlier weights. Null: the last validation has told.
  const Dataset* finally_scored() const {
    return data_.test ? data_.test.get() : data_.validation ? nullptr : data_.train.get();
  }

  std::string backend_name() const { return backend_names()[static_cast<std::size_t>(config_.train.backend)]; }

  Console& console_;
  const TrainArguments& arguments_;
  Ranks& ranks_;
  RunStatus& status_;
  RunConfig config_{};
  std::optional<Network> network_{};
  std::optional<Trainer> trainer_{};
  DataSplits data_{};
  ModelInfo info_{};
  std::optional<RunProfile> profile_{};
  Result origin_{};
  std::vector<std::string> hosts_{};  // by rank, where there are several
  std::int64_t steps_before_ = 0;     // the last epoch
  bool oversubscribed_ = false;       // more threads than processors
  StragglerWatch stragglers_{};
  std::optional<double> scatter_seconds_{};  // not yet in timings.jsonl
};

}  // namespace

void run_train(const TrainArguments& arguments, Console& console) {
  if (arguments.resume && arguments.out.empty())
    throw Error(ExitCode::usage, "--resume needs --out DIR: the folder of the run to go on with");
  if (arguments.resume && arguments.overwrite)
    throw Error(ExitCode::usage, "--resume keeps the run in --out and --overwrite replaces it; give one of them");
  const std::string erase = console.animated() ? "\r\x1b[K" : "";
  const auto status = std::make_shared<RunStatus>(arguments.out);
  const auto take_part = [&](TrainRun& run, bool leader) {
    try {
      leader ? run.lead() : run.follow();
    } catch (...) {
      status->decide(std::current_exception());
      status->write();
      throw;
    }
  };
  run_as_rank(
      [&](Ranks& ranks) {
        if (!ranks.leader()) console = Console({.json = false, .quiet = true});
        TrainRun run(arguments, console, ranks, *status);
        take_part(run, ranks.leader());
      },
      [&](const std::string& message) {
        write_line(fmt::format("{}lockstep: {}", erase, one_line(with_option_names(message))));
      },
      [status](int exit_code, const std::string& line) {
        status->decide(exit_code, line.empty() ? "another rank has said why" : line);
        start_quiet_thread([status] { status->write(); }).detach();  // a disk that hangs must not keep the rank
      });
}

}  // namespace lockstep::cli
