#include "lockstep/run/train_run.hpp"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/kernels/device/device.hpp"
#include "lockstep/kernels/slots.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/model/model_file.hpp"
#include "lockstep/parallel/launcher.hpp"
#include "lockstep/parallel/watchdog.hpp"
#include "lockstep/run/certificate.hpp"
#include "lockstep/run/lines.hpp"
#include "lockstep/run/pages/answers.hpp"
#include "lockstep/run/profile.hpp"
#include "lockstep/run/rank_map.hpp"
#include "lockstep/run/rank_session.hpp"
#include "lockstep/run/report.hpp"
#include "lockstep/run/resume.hpp"
#include "lockstep/run/status.hpp"
#include "lockstep/run/tensorboard.hpp"
#include "lockstep/run/timer.hpp"
#include "lockstep/run/verbose.hpp"
#include "lockstep/run/workload.hpp"

namespace lockstep {

void RunObserver::alarm(const std::string& line) { write_line(fmt::format("lockstep: {}", one_line(line))); }

namespace {

/// The step after which a stop request ended the training.
struct Stopped {
  std::int64_t epoch, step, steps;
};

/// The files that grow with the run.
struct RunLines {
  RunLines(const RunDirectory& directory, const KeptLines& kept)
      : metrics(directory.file(kMetricsFile), kept.metrics_bytes),
        timings(directory.file(kTimingsFile), kept.timings_bytes) {}
  LineFile metrics, timings;
};

/// Where rank 0 starts: the locked directory and, in a resumed run, the checkpoint and what it vouches for.
struct Start {
  std::unique_ptr<const RunDirectory> directory{};
  std::optional<Checkpoint> from{};
  std::string digest{};  // of the data; empty: not computed yet
  KeptLines kept{};
};

/// One rank of a training run.
class TrainRun {
 public:
  TrainRun(const std::string& config, const RunOptions& options, RunObserver& observer, Ranks& ranks, RunStatus& status)
      : file_(config), options_(options), observer_(observer), ranks_(ranks), status_(status) {}

  /// Rank 0, or the only one: writes the run directory and reports.
  RunResult lead() {
    Start start;
    prepare_together(ranks_, [&] {
      work_.emplace(file_, options_, ranks_);
      prepare(start);
    });
    scatter();
    share(start);
    const RunDirectory& directory = *start.directory;
    RunResult result{.config = work_->config, .directory = directory.path(), .ranks = ranks_.size()};
    result.last = start.kept.last;
    if (start.from) {
      work_->trainer.restore(start.from->state);
      result.resumed_step = start.from->state.steps;
      result.first_loss = start.from->state.first_loss;
      start.from.reset();
    } else {
      directory.clear();
    }
    write_file_atomically(directory.file(kConfigFile), resolved_toml(work_->config));
    status_.begin(directory.path(), ranks_.size(), work_->config.epochs);
    RunLines lines(directory, start.kept);
    origin_ = origin_record({.command = options_.command,
                             .backend = work_->backend_name(),
                             .threads = on_device(work_->config.train.backend) ? 0 : work_->trainer.options().threads,
                             .ranks = ranks_.size(),
                             .hosts = hosts_});
    if (options_.tensorboard || work_->config.log.tensorboard) events_.emplace(directory.path(), work_->network);
    note_beginning(directory);
    note_threads(result);
    RunCheckpoints checkpoints(
        {directory, work_->config, work_->network, work_->info, work_->data, lines.metrics, lines.timings},
        result.resumed_step.value_or(0), start.digest);
    fit(checkpoints, lines, result);
    finish(directory, lines, checkpoints.digest(), result);
    status_.decide(static_cast<int>(ErrorCode::done), "");
    status_.write();
    return result;
  }

  /// Another rank: the same training, without files and reports.
  RunResult follow() {
    RunObserver silent;
    prepare_together(ranks_, [&] {
      work_.emplace(file_, options_, ranks_);
      if (!work_->config.data.from_rank0) load(silent);
    });
    scatter();
    check_agreement(ranks_, work_->config, work_->data);
    ranks_.all_gather(ranks_.transport().host(), "beginning");
    const std::string checkpoint = ranks_.broadcast("", "beginning");
    Trainer& trainer = work_->trainer;
    if (!checkpoint.empty())
      trainer.restore(parse_checkpoint(std::as_bytes(std::span(checkpoint)), "the checkpoint of rank 0").state);
    gather_places(ranks_, trainer.options().threads);
    observer_.begin(work_->data.train->size(), work_->config.epochs);
    ranks_.note_phase("training");
    const auto on_step = [](const StepReport& report) {
      if (report.requests.stop) throw ReportedByRank0(ErrorCode::preempted, "stopped, and saved by rank 0");
    };
    trainer.fit(*work_->data.train,
                {.epochs = work_->config.epochs - trainer.counts().epoch,
                 .validation = work_->data.validation.get(),
                 .requests = [&](std::int64_t) { return StepRequests{.stop = is_stop_requested()}; },
                 .on_step = on_step,
                 .on_fault = [&](const std::string& line) { observer_.alarm("warning: " + line); },
                 .samples = last_validation()});
    if (const Dataset* last = last_scored()) trainer.evaluate(*last, &samples_);
    return {.config = work_->config, .ranks = ranks_.size()};
  }

 private:
  /// The report shows answers of the final weights. They come with the last evaluation; where only validations are
  /// left for that, with each of them: it costs little on the host. On a device it takes a copy of the outputs, so
  /// there one more evaluation is made at the end.
  SampleScores* last_validation() {
    return work_->final_data() == nullptr && !on_device(work_->config.train.backend) ? &samples_ : nullptr;
  }
  const Dataset* last_scored() {
    return work_->final_data() != nullptr ? work_->final_data()
           : last_validation() == nullptr ? work_->data.validation.get()
                                          : nullptr;
  }

  bool is_stop_requested() const { return options_.stop && options_.stop(); }

  void load(RunObserver& observer) {
    ranks_.note_phase("loading");
    work_->load(observer);
  }

  /// Locks the directory of a run to resume and compares its configuration before the data are loaded; a new directory
  /// is made only when all checks of the run have passed.
  void prepare(Start& start) {
    const RunDirectoryOptions out{.path = options_.out,
                                  .name = std::filesystem::path(file_).stem().string(),
                                  .overwrite = options_.overwrite,
                                  .resume = options_.resume};
    check_run_directory(out);
    if (options_.resume && std::filesystem::exists(options_.out)) {
      start.directory = std::make_unique<RunDirectory>(out);
      start.from = find_checkpoint(*start.directory, work_->config, observer_);
    }
    load(observer_);
    if (!start.directory) start.directory = std::make_unique<RunDirectory>(out);
    if (!start.from) return;
    start.digest = check_same_data(*start.from, *start.directory, work_->data);
    start.kept = check_lines(*start.from, *start.directory);
  }

  /// data.from = "rank0": the other ranks get the data that rank 0 has read.
  void scatter() {
    check_readers(ranks_, work_->config.data.from_rank0);
    if (!work_->config.data.from_rank0) return;
    ranks_.note_phase("scatter");
    const Timer timer;
    work_->data = scatter_data(ranks_, work_->data, work_->network.precision());
    scatter_seconds_ = timer.seconds();
    if (ranks_.leader() && ranks_.size() > 1)
      observer_.note(fmt::format("rank 0 has sent the data to {} other rank{} ({})", ranks_.size() - 1,
                                 ranks_.size() == 2 ? "" : "s", duration(*scatter_seconds_)));
  }

  /// With several ranks: checks that they start from the same facts, and sends them the checkpoint.
  void share(Start& start) {
    if (ranks_.size() == 1) return;
    start.digest = check_agreement(ranks_, work_->config, work_->data);
    hosts_ = ranks_.all_gather(ranks_.transport().host(), "beginning");
    std::string bytes;
    if (const auto& from = start.from) {
      const std::vector<std::byte> file = write_checkpoint(from->model.network, work_->info, from->state, from->run);
      bytes.assign(reinterpret_cast<const char*>(file.data()), file.size());
    }
    ranks_.broadcast(bytes, "beginning");
    note_ranks();
  }

  void note_ranks() {
    const TrainOptions& options = work_->config.train;
    const int threads = work_->trainer.options().threads;
    observer_.note(fmt::format("{} ({}), {}", count_of(ranks_.size(), "rank"), ranks_.transport().describe(),
                               on_device(options.backend) ? "a device each, in turns where there are fewer"
                                                          : fmt::format("{} each", count_of(threads, "thread"))));
    const std::vector<RankPlace> places = gather_places(ranks_, threads);
    oversubscribed_ = is_oversubscribed(places);
    if (options_.verbose)
      for (const std::string& line : rank_map(places)) observer_.note(line);
    if (const auto note = binding_note(places, find_launcher())) observer_.note(*note);
    const std::int64_t batch = options.batch > 0 ? options.batch : work_->data.train->size();
    const std::int64_t slots = options.slots > 0 ? options.slots : auto_slots(batch);
    if (slots < ranks_.size())
      observer_.note(
          fmt::format("a batch of {} has {}: {} without samples; a larger train.batch or train.slots feeds them", batch,
                      count_of(slots, "slot"), count_of(ranks_.size() - slots, "rank")));
  }

  /// How many threads take part in a step, and why not all.
  void note_threads(RunResult& result) {
    const TrainOptions& options = work_->trainer.options();
    if (on_device(options.backend)) return;
    result.threads = options.threads;
    result.step_threads = work_->trainer.step_threads(*work_->data.train);
    if (result.step_threads < result.threads) {
      const std::int64_t batch = options.batch > 0 ? options.batch : work_->data.train->size();
      const std::int64_t slots = options.slots > 0 ? options.slots : auto_slots(batch);
      const bool too_few = result.step_threads * ranks_.size() >= slots;
      result.threads_note = fmt::format(
          "{} of {} take{} part in a step: {}", result.step_threads, count_of(result.threads, "thread"),
          result.step_threads == 1 ? "s" : "",
          too_few ? fmt::format("a batch of {} has {}", batch, count_of(slots, "slot")) : "it is too short to share");
    }
    if (options_.verbose)
      observer_.note(result.threads_note.empty() ? fmt::format("{} in every step", count_of(result.threads, "thread"))
                                                 : result.threads_note);
  }

  void note_beginning(const RunDirectory& directory) {
    observer_.note(fmt::format("writing to {}", one_line(directory.path().string())));
    const Backend backend = work_->config.train.backend;
    const TrainOptions& options = work_->trainer.options();
    if (on_device(backend))
      observer_.note("kernels that this device has not run before are compiled in the first step, which takes seconds");
    if (options_.verbose)
      for (const std::string& line : verbose_lines(backend, work_->network.precision(), options.threads))
        observer_.note(line);
    if (options_.profile) profile_.emplace(work_->network, options, work_->data, observer_);
  }

  void fit(RunCheckpoints& checkpoints, RunLines& lines, RunResult& result) {
    Trainer& trainer = work_->trainer;
    const std::int64_t epochs = work_->config.epochs, samples = work_->data.train->size();
    const TrainingState before = trainer.counts();
    if (result.resumed_step) note_resumed(before);
    status_.note(before.epoch, before.steps);
    steps_before_ = before.steps;
    std::int64_t done = before.steps;
    observer_.begin(samples, epochs);
    ranks_.note_phase("training");
    const Timer timer;
    const auto requests = [&](std::int64_t steps) {
      return StepRequests{.stop = is_stop_requested(), .save = checkpoints.is_due(steps)};
    };
    const auto on_step = [&](const StepReport& report) {
      observer_.step(report);
      status_.note(report.epoch, ++done);
      if (report.requests.save) checkpoints.start(trainer);
      if (report.requests.stop) throw Stopped{report.epoch, report.step, report.steps};
    };
    try {
      trainer.fit(*work_->data.train, {.epochs = epochs - before.epoch,
                                       .validation = work_->data.validation.get(),
                                       .requests = requests,
                                       .on_step = on_step,
                                       .on_epoch = [&](const EpochReport& report) { end_epoch(report, lines, result); },
                                       .on_fault = [&](const std::string& line) { observer_.warn(line); },
                                       .samples = last_validation(),
                                       .profile = profile_ ? &profile_->spans() : nullptr});
    } catch (const Stopped& at) {
      stop(at, checkpoints, result);
    }
    result.seconds = timer.seconds();
    note_guard();
    result.samples = (trainer.counts().epoch - before.epoch) * samples - before.samples;
    ranks_.note_phase("saving");
    result.checkpoint = checkpoints.save(trainer);
  }

  void note_guard() {
    if (work_->config.train.guard.recheck == 0) return;
    const GuardCounts counts = work_->trainer.guard_counts();
    observer_.note(fmt::format("guard: {} computed twice, {}",
                               count_of(counts.rechecked, "chunk of slots", "chunks of slots"),
                               count_of(counts.differences, "difference")));
  }

  void end_epoch(const EpochReport& report, RunLines& lines, RunResult& result) {
    lines.metrics.append(metrics_line(report));
    lines.timings.append(
        timings_line(report, work_->backend_name(), hosts_, std::exchange(scatter_seconds_, std::nullopt)));
    if (events_) events_->add(report, work_->network);
    observer_.epoch(report);
    note_rank_times(report);
    if (report.best_epoch == report.epoch) save_model(result.directory / kBestModelFile, work_->network, work_->info);
    if (report.stops)
      observer_.note(fmt::format("stopped early: the validation {} was best in epoch {}, {} ago",
                                 work_->config.train.early_stopping->metric, *report.best_epoch,
                                 count_of(report.epoch - *report.best_epoch, "epoch")));
    result.last = report;
    result.first_loss = report.first_loss;
    result.step_seconds += report.times.total;
  }

  /// Saves what there is and throws Error(preempted).
  [[noreturn]] void stop(const Stopped& at, RunCheckpoints& checkpoints, const RunResult& result) {
    ranks_.note_phase("saving");
    checkpoints.save(work_->trainer);
    const Error stopped(
        ErrorCode::preempted,
        fmt::format("stopped {} at epoch {}, step {} of {}, and saved; to go on: {}", options_.stop_reason, at.epoch,
                    at.step, at.steps, resume_command(result.directory)));
    // Before the rest: mpirun gives its ranks one second after a signal.
    status_.decide(static_cast<int>(stopped.code()), stopped.what());
    status_.write();
    save_model(result.directory / kModelFile, work_->network, work_->info);
    write_run_report(result.directory, origin_, observer_);
    throw stopped;
  }

  /// Where the time of the ranks went, and, once in a run, which of them the others wait for.
  void note_rank_times(const EpochReport& report) {
    if (report.rank_times.empty()) return;
    const std::int64_t steps = report.steps - std::exchange(steps_before_, report.steps);
    if (options_.verbose)
      for (const std::string& line : rank_time_lines(report.rank_times, steps)) observer_.note(line);
    // Parts of a network have different work, and ranks that share processors delay each other.
    const ParallelOptions& parallel = work_->config.train.parallel;
    const bool comparable = parallel.pipeline * parallel.tensor == 1 && !oversubscribed_;
    const auto straggler = comparable ? stragglers_.add(report.rank_times, steps) : std::nullopt;
    if (!straggler) return;
    observer_.note(
        fmt::format("rank {} on {} is a straggler: its own work takes {:.2f} times that of the others, which "
                    "wait for it; is something else running there, or its clock lower?",
                    straggler->rank, hosts_[static_cast<std::size_t>(straggler->rank)], straggler->ratio));
  }

  void note_resumed(const TrainingState& state) {
    if (work_->trainer.stopped_early())
      observer_.note(fmt::format("the run is complete: early stopping ended it after {}; nothing is left to train",
                                 count_of(state.epoch, "epoch")));
    else if (state.epoch >= work_->config.epochs)
      observer_.note(fmt::format("the run is complete: {}, {}; nothing is left to train, more train.epochs would go on",
                                 count_of(state.epoch, "epoch"), count_of(state.steps, "step")));
    else
      observer_.note(
          fmt::format("going on from step {}: epoch {}, batch {}", state.steps, state.epoch + 1, state.batch + 1));
  }

  void finish(const RunDirectory& directory, RunLines& lines, const std::string& digest, RunResult& result) {
    save_model(directory.file(kModelFile), work_->network, work_->info);
    if (profile_) {
      profile_->write(directory);
      result.profile_text = profile_->text();
      result.profile_json = profile_->json();
    }
    result.parameters = work_->network.trainable_count();
    result.weight_hash = weight_hash(work_->network.values());
    const Dataset* const scored = last_scored();
    const Scores scores = scored != nullptr ? work_->trainer.evaluate(*scored, &samples_) : Scores{};
    if (work_->final_data() != nullptr) {
      const bool test = work_->data.test != nullptr;
      (test ? result.test : result.final_train) = scores;
      lines.metrics.append(final_line(test ? "test" : "final_train", scores, result.weight_hash));
      if (events_) events_->add(test ? "test" : "final_train", scores, work_->config.epochs);
    }
    write_file_atomically(
        directory.file(kCertificateFile),
        certificate_json(make_certificate(directory.path(), resolved_toml(work_->config), digest, result.weight_hash)));
    write_answers(directory);
    write_run_report(directory.path(), origin_, observer_);
    observer_.done(result);
  }

  /// answers.json. As with the report, a failure is a note.
  void write_answers(const RunDirectory& directory) {
    if (!samples_.wanted()) return;  // nothing was left to train: the file of the run before stays
    try {
      const DataSplits& data = work_->data;
      const Dataset& scored = data.test ? *data.test : data.validation ? *data.validation : *data.train;
      RunAnswers answers = find_answers(work_->config, work_->network, work_->info, scored, samples_);
      answers.part = data.test ? "test" : data.validation ? "validation" : "training";
      write_file_atomically(directory.file(kAnswersFile), answers_json(answers));
    } catch (const std::exception& error) {
      observer_.note(fmt::format("warning: the report has no answers: {}", one_line(error.what())));
    }
  }

  const std::string& file_;
  const RunOptions& options_;
  RunObserver& observer_;
  Ranks& ranks_;
  RunStatus& status_;
  std::optional<Workload> work_{};
  std::optional<RunProfile> profile_{};
  std::optional<EventFile> events_{};
  Result origin_{};
  SampleScores samples_{};            // of the final weights
  std::vector<std::string> hosts_{};  // by rank, with several
  std::int64_t steps_before_ = 0;     // of the present epoch
  bool oversubscribed_ = false;       // more threads than processors
  StragglerWatch stragglers_{};
  std::optional<double> scatter_seconds_{};  // not yet in timings.jsonl
};

}  // namespace

RunResult train_run(const std::string& config, const RunOptions& options) {
  if (options.resume && options.out.empty())
    throw Error(ErrorCode::usage, "resume needs a run directory: the folder of the run to go on with");
  if (options.resume && options.overwrite)
    throw Error(ErrorCode::usage, "resume keeps the run in its directory and overwrite replaces it; give one of them");
  RunObserver silent;
  RunObserver& observer = options.observer != nullptr ? *options.observer : silent;
  const auto status = std::make_shared<RunStatus>(options.out);
  RunResult result;
  const auto program = [&](Ranks& ranks) {
    TrainRun run(config, options, observer, ranks, *status);
    try {
      result = ranks.leader() ? run.lead() : run.follow();
    } catch (...) {
      status->decide(std::current_exception());
      status->write();
      throw;
    }
  };
  if (options.session != nullptr) {
    options.session->run(program);
    return result;
  }
  if (const auto rank = find_local_rank(); rank && find_launcher()) choose_device(options.backend, {.rank = *rank});
  run_as_rank(
      program, [&](const std::string& line) { observer.alarm(line); },
      [status](int exit_code, const std::string& line) {
        status->decide(exit_code, line.empty() ? "another rank has said why" : line);
        start_quiet_thread([status] { status->write(); }).detach();  // a disk that hangs must not keep the rank
      });
  return result;
}

}  // namespace lockstep
