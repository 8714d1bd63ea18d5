#include "lockstep/train/loop.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/samples.hpp"
#include "lockstep/data/step_windows.hpp"
#include "lockstep/lab/lap.hpp"
#include "lockstep/train/scores.hpp"
#include "lockstep/train/tokens.hpp"
#include "lockstep/train/update.hpp"

namespace lockstep {

namespace {

/// Ends a span of a member, where a profile is taken.
void close(const FitOptions& fit, const Member& member, std::int32_t section, Cost cost = {}) {
  if (fit.profile != nullptr) fit.profile->recorder(member.index).close(section, cost.flops, cost.bytes);
}

void meet(const FitOptions& fit, const Member& member) {
  member.barrier.wait();
  close(fit, member, kWaitSection);
}

/// A training that diverged may have been given a number that T cannot hold: the error then names the number.
template <class T>
void blame_inputs(const Dataset& data) {
  AlignedBuffer<T> block(data.features() * kScoreBlock);
  std::vector<std::int64_t> ids;
  for (std::int64_t k = 0; k < block_count(data); ++k) {
    list_samples({k, k + 1}, data, ids);
    const Matrix<T> x{block.data(), data.features(), std::ssize(ids), kScoreBlock};
    data.gather(ids, x);
    for (std::int64_t feature = 0; feature < x.rows; ++feature)
      for (std::int64_t j = 0; j < x.cols; ++j)
        if (!std::isfinite(x(feature, j)))
          throw Error(ErrorCode::diverged,
                      fmt::format("training diverged: feature {} of training sample {} is beyond the range of {}",
                                  feature, ids[static_cast<std::size_t>(j)],
                                  sizeof(T) == 4 ? "float32; correct the data, or set model.precision = \"float64\""
                                                 : "float64 once it is scaled; change data.scale"));
  }
}

/// "0, 3, 5.body.0": the layers that have parameters.
std::string layer_names(const Network& network) {
  std::vector<std::string> names;
  for (const ParameterInfo& info : network.parameters()) {
    const std::string layer = info.name.substr(0, info.name.rfind('.'));
    if (names.empty() || names.back() != layer) names.push_back(layer);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Loop::Loop(Network& network, const TrainOptions& options, Ranks& ranks, const MakeExecutor& make)
    : setup_(network, options, ranks), executor_(make(setup_)) {
  setup_.options.threads = executor_->members();
  for (const std::string& layer : options.frozen)
    if (std::ranges::none_of(network.parameters(), [&](const ParameterInfo& info) {
          return info.trainable() && is_frozen(info.name, {layer});
        }))
      throw Error(ErrorCode::usage,
                  fmt::format("frozen: no layer \"{}\" has parameters; names begin as in the file of the "
                              "model: {}",
                              layer, layer_names(network)));
}

namespace {

/// Those that are watched are computed too; loss and accuracy are there anyway.
std::vector<Metric> all_metrics(const TrainOptions& options) {
  std::vector<Metric> all = options.metrics;
  const auto add = [&](const std::string& name) {
    const auto metric = metric_named(name);
    if (!metric) throw Error(ErrorCode::usage, metric_name_fault(name));
    if (std::find(all.begin(), all.end(), *metric) == all.end()) all.push_back(*metric);
  };
  if (options.early_stopping) add(options.early_stopping->metric);
  if (options.schedule.kind == ScheduleKind::plateau) add(options.schedule.metric);
  std::erase_if(all, [](const Metric& m) { return m.kind == MetricKind::loss; });
  return all;
}

}  // namespace

namespace {

/// Data with a class for every step.
void check_steps(const Network& network, const Dataset& data, const TrainOptions& options) {
  const auto require = [](bool condition, const std::string& message) {
    if (!condition) throw Error(ErrorCode::usage, message);
  };
  require(is_of_softmax(options.loss),
          fmt::format("the data has a class for every step, which needs cross-entropy or focal; the loss is {}",
                      name_of(options.loss)));
  require(!data.has_weights() && !options.class_weights.any(),
          "weights of samples and classes are not for data with a class for every step");
  const Shape& out = network.output();
  require(out.rank() == 2 && out[1] == data.target_size() && out[0] >= data.step_classes(),
          fmt::format("the data has one of {} classes for each of {} steps, but the model gives {}; end it in "
                      "{{linear = {{out = {}, per_step = true}}}}",
                      data.step_classes(), data.target_size(), out.str(), data.step_classes()));
}

}  // namespace

void Loop::check(const Dataset& data) const {
  const Network& network = setup_.network;
  const Loss loss = setup_.options.loss;
  check_input(network.input(), data);
  const std::int64_t outputs = network.output().elements();
  for (const Metric& metric : all_metrics(setup_.options))
    if (const std::string fault = metric_fault(metric, data, outputs, loss); !fault.empty())
      throw Error(ErrorCode::usage, fmt::format("metrics: {}", fault));
  check_tokens(network, data, ids_from(0, data.size()));
  if (data.step_classes() > 0) return check_steps(network, data, setup_.options);
  if (data.classes() == 0) {
    if (is_of_softmax(loss))
      throw Error(ErrorCode::usage,
                  fmt::format("{} needs class labels, but the data has real-valued targets; use binary-cross-entropy, "
                              "squared-error or huber",
                              name_of(loss)));
    if (data.target_size() != outputs)
      throw Error(ErrorCode::usage, fmt::format("the data has targets of {} but the model has {}",
                                                count_of(data.target_size(), "number"), count_of(outputs, "output")));
    return;
  }
  const bool single = outputs == 1 && data.classes() == 2 && !is_of_softmax(loss);
  if (!single && data.classes() > outputs)
    throw Error(ErrorCode::usage,
                fmt::format("the data has {} but the model has {}", count_of(data.classes(), "class", "classes"),
                            count_of(outputs, "output")));
}

void Loop::prepare(const Dataset& given, const Dataset& data) {
  check(given);
  // Initial weights are drawn at first use: not by two members at once.
  if (!setup_.grid.is_sharded()) static_cast<void>(setup_.network.values());
  SampleWeights weights(data, setup_.options.class_weights);
  setup_.weights = weights.any() ? std::make_unique<const SampleWeights>(std::move(weights)) : nullptr;
  show_average(false);
  executor_->prepare(data);
}

void Loop::prepare_single(const Dataset& data) {
  if (setup_.options.truncate > 0)
    throw Error(ErrorCode::usage,
                "train.truncate: windows follow each other in a whole training only, not in a "
                "single step or gradient");
  prepare(data, data);
}

void Loop::show_average(bool shown) {
  if (shown == average_shown_ || progress_.averaged == 0) return;
  executor_->swap_average();
  average_shown_ = shown;
}

Batch Loop::batch_of(const Dataset& data, std::span<const std::int64_t> ids) const {
  return {.data = data,
          .ids = ids,
          .epoch = progress_.epoch,
          .weights = setup_.weights.get(),
          .weight = setup_.weights ? setup_.weights->sum(ids) : double(target_count(data, ids))};
}

std::vector<EpochReport> Loop::fit(const Dataset& given, const FitOptions& options) {
  if (options.validation != nullptr) check(*options.validation);
  if (options.validation == nullptr && setup_.options.needs_validation())
    throw Error(ErrorCode::usage,
                fmt::format("{} needs validation data",
                            setup_.options.early_stopping ? "early_stopping" : "the schedule plateau"));
  if (given.size() == 0) throw Error(ErrorCode::data, "there are no samples to train on");
  std::optional<StepWindows> windows;
  if (setup_.options.truncate > 0) windows.emplace(given, setup_.options.truncate, "train.truncate");
  const Dataset& data = windows ? *windows : given;
  if (const auto epoch = data.for_epoch(0); epoch && epoch->has_soft_targets() && setup_.options.loss == Loss::focal)
    throw Error(ErrorCode::usage,
                "focal needs one class per sample, and data.augment.mixup makes two; use cross-entropy");
  prepare(given, data);
  progress_.reports.clear();
  const std::int64_t first = progress_.epoch, last = first + options.epochs;
  Profile* const profile = options.profile;
  const int team = std::max(executor_->step_members(),
                            options.validation == nullptr ? 1 : executor_->score_members(*options.validation));
  if (profile != nullptr) profile->begin(sections_of(setup_.network), team);
  executor_->begin_fit(data, profile);
  steppers_.emplace(executor_->step_members(), barrier_spin(executor_->step_members()));
  try {
    run_team(team, [&](const Member& member) {
      const auto start = Recorder::Clock::now();
      if (profile != nullptr) profile->recorder(member.index).start();
      for (std::int64_t epoch = first; epoch < last && !progress_.stopped(setup_.options); ++epoch)
        run_epoch(member, data, options, last);
      if (profile != nullptr)
        profile->wall_ns[static_cast<std::size_t>(member.index)] = (Recorder::Clock::now() - start).count();
    });
    show_average(true);
    executor_->collect(Collect::state);
  } catch (const Error& error) {
    executor_->end_fit(false);
    if (error.code() == ErrorCode::diverged)
      setup_.network.precision() == Precision::float32 ? blame_inputs<float>(data) : blame_inputs<double>(data);
    throw;
  } catch (...) {
    executor_->end_fit(false);
    throw;
  }
  executor_->end_fit(true);
  return std::move(progress_.reports);
}

/// One epoch, or the rest of it, out of `epochs` since the beginning of training.
void Loop::run_epoch(const Member& member, const Dataset& data, const FitOptions& fit, std::int64_t epochs) {
  double seconds = 0, validation_seconds = 0;
  Lap lap;
  train_epoch(member, data, fit, epochs);
  // The others may still note how long they waited; behind this barrier their times can be read.
  meet(fit, member);
  lap(seconds);
  if (setup_.options.average.any()) {
    if (member.index == 0) show_average(true);
    meet(fit, member);
  }
  if (fit.validation != nullptr) {
    validate(member, fit);
    lap(validation_seconds);
  }
  if (member.index == 0) {
    end_epoch(fit, seconds, validation_seconds);
    close(fit, member, kReportSection);
  }
  meet(fit, member);
}

void Loop::train_epoch(const Member& member, const Dataset& data, const FitOptions& fit, std::int64_t epochs) {
  if (member.index == 0) {
    show_average(false);
    progress_.begin_epoch(setup_.options, data, setup_.weights.get());
    if (const std::int64_t window = progress_.batch % data.windows(); window > 0)
      executor_->resume_window(window, std::ssize(progress_.batches->ids(progress_.batch)));
    close(fit, member, kShuffleSection);
  }
  meet(fit, member);
  if (member.index >= executor_->step_members()) return;  // to the barrier at the end of the epoch, asleep
  try {
    take_steps({.index = member.index, .size = executor_->step_members(), .barrier = *steppers_}, data, fit, epochs);
  } catch (...) {
    steppers_->fail();
    throw;
  }
}

/// By the team of the members that take steps.
void Loop::take_steps(const Member& member, const Dataset& data, const FitOptions& fit, std::int64_t epochs) {
  const Batches& batches = *progress_.batches;
  const std::shared_ptr<const Dataset> changed = data.for_epoch(progress_.epoch);
  const Dataset& samples = changed ? *changed : data;
  const bool ahead = member.index == 0 && samples.reads_ahead();
  for (std::int64_t b = progress_.batch; b < batches.count(); ++b) {
    const std::int64_t step = progress_.steps + b;
    Batch batch = batch_of(samples, batches.ids(b));
    batch.step = step;
    batch.window = b % samples.windows();
    batch.rate = fit.rate ? fit.rate(step) : progress_.rate_at(setup_.options, step, epochs * batches.count());
    if (b + 1 < batches.count()) {
      batch.next = batches.ids(b + 1);
      if (ahead) samples.prefetch(own_part(data, batch.next));
    }
    batch.fit = &fit;
    const StepResult result = executor_->train_batch(member, batch);
    if (member.index != 0) continue;
    report_faults(fit);
    // While the other members run the slots of the next step: they wait for member 0 at its first barrier, so the
    // weights and the optimiser's state do not change here.
    if (setup_.options.average.takes(progress_.epoch, b + 1 == batches.count()))
      executor_->average(setup_.options.average.share(progress_.averaged++));
    const bool saves = result.requests.stop || result.requests.save;
    progress_.account(batch, result, !saves || executor_->collect(Collect::state), epochs);
    close(fit, member, kReportSection);
  }
}

void Loop::report_faults(const FitOptions& fit) {
  if (!setup_.guard || !fit.on_fault) return;
  for (const std::string& line : setup_.guard->take_lines()) fit.on_fault(line);
}

std::span<const std::int64_t> Loop::own_part(const Dataset& data, std::span<const std::int64_t> ids) {
  const Ranks& replicas = setup_.grid.replicas();
  const std::int64_t slots = setup_.slots_for(data);
  const std::vector<std::int64_t> bounds = cut_into_slots(std::ssize(ids), slots);
  const std::int64_t first = bounds[static_cast<std::size_t>(replicas.share(slots, replicas.rank()))];
  const std::int64_t last = bounds[static_cast<std::size_t>(replicas.share(slots, replicas.rank() + 1))];
  return ids.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
}

void Loop::validate(const Member& member, const FitOptions& fit) {
  if (member.index == 0) begin_scores(*fit.validation, fit.samples != nullptr);
  meet(fit, member);
  const Cost cost = executor_->score(member, *fit.validation, blocks_);
  close(fit, member, kValidationSection, cost);
  meet(fit, member);
  if (member.index == 0) progress_.report.validation = total_scores(*fit.validation, fit.samples);
}

void Loop::begin_scores(const Dataset& data, bool samples) {
  if (data.size() > 0) setup_.ranks.note_phase("evaluation");
  resize_blocks(blocks_, data, samples || !all_metrics(setup_.options).empty());
}

Scores Loop::total_scores(const Dataset& data, SampleScores* samples) {
  Scores total = lockstep::total_scores(setup_.grid, blocks_, data, all_metrics(setup_.options),
                                        setup_.network.output().elements());
  if (samples != nullptr) *samples = blocks_.samples;
  return total;
}

void Loop::end_epoch(const FitOptions& fit, double seconds, double validation_seconds) {
  progress_.end_epoch(executor_->collect(Collect::weights));
  if (setup_.options.needs_validation()) progress_.watch(setup_.options);
  EpochReport& report = progress_.report;
  report.penalty = executor_->penalty();
  if (!setup_.grid.is_sharded() || setup_.ranks.leader()) report.weight_hash = weight_hash(setup_.network.values());
  report.times = executor_->take_times();
  report.times.total = seconds;
  report.times.validation = validation_seconds;
  progress_.hand_out_report(setup_.ranks, fit);
}

double Loop::step(const Dataset& data, std::span<const std::int64_t> ids) {
  prepare_single(data);
  const std::int64_t step = progress_.steps;
  Batch batch = batch_of(data, ids);
  batch.step = step;
  batch.rate = progress_.rate_at(setup_.options, step, step + 1);
  double loss = 0;
  run_team(executor_->step_members(), [&](const Member& member) {
    const StepResult result = executor_->train_batch(member, batch);
    if (member.index == 0) loss = result.scores.loss;
  });
  ++progress_.steps;
  return mean_loss(loss, batch.weight);
}

std::vector<double> Loop::gradient(const Dataset& data, std::span<const std::int64_t> ids) {
  prepare_single(data);
  return executor_->gradient(batch_of(data, ids));
}

Scores Loop::evaluate(const Dataset& data, SampleScores* samples) {
  check(data);
  if (!setup_.grid.is_sharded()) static_cast<void>(setup_.network.values());  // as in prepare
  begin_scores(data, samples != nullptr);
  run_team(executor_->score_members(data), [&](const Member& member) { executor_->score(member, data, blocks_); });
  return total_scores(data, samples);
}

TrainingState Loop::counts() const { return progress_.counts(); }

TrainingState Loop::state() const {
  TrainingState state = counts();
  executor_->save(state);
  if (average_shown_) std::swap(state.parameters, state.average);
  return state;
}

void Loop::restore(const TrainingState& state) {
  if (state.averaged > 0 && !setup_.options.average.any())
    throw Error(ErrorCode::checkpoint, "the state has averaged weights, and this training averages none");
  executor_->restore(state);
  progress_.restore(state);
  average_shown_ = false;
  if (state.batch == 0) show_average(true);
}

}  // namespace lockstep
