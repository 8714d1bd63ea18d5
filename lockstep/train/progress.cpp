#include "lockstep/train/progress.hpp"

#include <cmath>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/parallel/ranks.hpp"

namespace lockstep {

namespace {

[[noreturn]] void fail_diverged(std::string_view what, std::int64_t epoch, std::int64_t step) {
  throw Error(ErrorCode::diverged,
              fmt::format("training diverged: {} at epoch {}, step {}; lower train.optimizer.lr or "
                          "set train.clip_norm",
                          what, epoch, step));
}

constexpr const char* kBadWeights = "the weights are not finite numbers";

}  // namespace

double Progress::rate_at(const TrainOptions& options, std::int64_t step, std::int64_t total_steps) const {
  return base_rate(options.optimizer) * schedule_factor(options.schedule, step, epoch, total_steps, rate_drops);
}

void Progress::begin_epoch(const TrainOptions& options, const Dataset& data, const SampleWeights* weights) {
  batches = std::make_unique<Batches>(BatchConfig{.samples = data.size() / data.windows(),
                                                  .batch = options.batch,
                                                  .shuffle = options.shuffle,
                                                  .seed = options.seed,
                                                  .epoch = epoch,
                                                  .windows = data.windows()});
  if (batch > batches->count())
    throw Error(ErrorCode::checkpoint, fmt::format("training stands after batch {} of an epoch that has {}: the state "
                                                   "belongs to other data",
                                                   batch, batches->count()));
  weight_sum = 0;
  if (batch > 0) {  // resumed in the middle of an epoch: the sums are there, but for those of weights and steps
    report.train.steps = 0;
    for (std::int64_t b = 0; b < batch; ++b) {
      const std::int64_t targets = target_count(data, batches->ids(b));
      weight_sum += weights != nullptr ? weights->sum(batches->ids(b)) : double(targets);
      if (data.step_classes() > 0) report.train.steps += targets;
    }
    report.train.loss = mean_loss(loss_sum, weight_sum);
    return;
  }
  report = {.epoch = epoch + 1};
  loss_sum = 0;
  if (data.classes() > 0 || data.step_classes() > 0) report.train.correct = 0;
}

void Progress::account(const Batch& step, const StepResult& result, bool finite, std::int64_t total_epochs) {
  const std::int64_t done = step.step - steps + 1;
  if (!std::isfinite(result.scores.loss))
    fail_diverged(fmt::format("the loss is {}", result.scores.loss), epoch + 1, done);
  if (!finite) fail_diverged(kBadWeights, epoch + 1, done);
  if (step.step == 0) first_loss = mean_loss(result.scores.loss, step.weight);
  batch = done;
  loss_sum += result.scores.loss;
  const std::int64_t samples = step.goes_on() ? 0 : step.size();  // sequences, with their last window
  report.train.samples += samples;
  weight_sum += step.weight;
  report.train.loss = mean_loss(loss_sum, weight_sum);
  report.rate = step.rate;
  if (step.data.step_classes() > 0) report.train.steps += target_count(step.data, step.ids);
  if (step.data.classes() > 0 || step.data.step_classes() > 0)
    report.train.correct = report.train.correct.value_or(0) + result.scores.correct;
  if (Profile* profile = step.fit->profile) {
    ++profile->steps;
    profile->samples += samples;
  }
  if (step.fit->on_step)
    step.fit->on_step({.epoch = epoch + 1,
                       .epochs = total_epochs,
                       .step = done,
                       .steps = batches->count(),
                       .samples_done = report.train.samples,
                       .loss = report.train.loss,
                       .batch_loss = mean_loss(result.scores.loss, step.weight),
                       .requests = result.requests});
}

void Progress::end_epoch(bool finite) {
  if (!finite) fail_diverged(kBadWeights, epoch + 1, batches->count());
  steps += batches->count();
  ++epoch;
  batch = 0;
  report.steps = steps;
  report.first_loss = first_loss;
}

void Progress::watch(const TrainOptions& options) {
  const auto value_of = [&](const std::string& name) {
    return report.validation->value(*metric_named(name)).value_or(std::nan(""));
  };
  if (const auto& rule = options.early_stopping) {
    stopping.add(value_of(rule->metric), epoch, *metric_named(rule->metric), rule->min_gain);
    report.best_epoch = stopping.epoch;
    report.stops = stopped(options);
  }
  const Schedule& schedule = options.schedule;
  if (schedule.kind != ScheduleKind::plateau) return;
  if (plateau.add(value_of(schedule.metric), epoch, *metric_named(schedule.metric), schedule.min_gain)) return;
  if (epoch - plateau.epoch < schedule.patience) return;
  ++rate_drops;
  plateau.epoch = epoch;
}

bool Progress::stopped(const TrainOptions& options) const {
  const auto& rule = options.early_stopping;
  return rule && rule->patience > 0 && epoch - stopping.epoch >= rule->patience;
}

void Progress::hand_out_report(Ranks& ranks, const FitOptions& fit_options) {
  report.rank_times.clear();
  if (ranks.size() > 1) {
    report.rank_times.resize(static_cast<std::size_t>(ranks.size()), report.times);
    gather_shares(ranks, report.rank_times.data(), ranks.size(), "times");
  }
  if (fit_options.profile != nullptr && report.validation)
    fit_options.profile->validation_samples += report.validation->samples;
  if (fit_options.on_epoch) fit_options.on_epoch(report);
  reports.push_back(report);
  // Time in which rank 0 writes its report must not count as time of the other ranks' next epoch.
  if (ranks.size() > 1) ranks.barrier("reporting");
}

TrainingState Progress::counts() const {
  TrainingState state{.epoch = epoch,
                      .batch = batch,
                      .steps = steps + batch,
                      .first_loss = first_loss,
                      .stopping = stopping,
                      .plateau = plateau,
                      .rate_drops = rate_drops,
                      .averaged = averaged};
  if (batch > 0) {
    state.loss_sum = loss_sum;
    state.samples = report.train.samples;
    state.correct = report.train.correct;
    state.rate = report.rate;
  }
  return state;
}

void Progress::check(const TrainingState& state) {
  if (state.rate_drops < 0 || state.stopping.epoch < 0 || state.plateau.epoch < 0 ||
      state.stopping.epoch > state.epoch || state.plateau.epoch > state.epoch || state.rate_drops > state.epoch)
    throw Error(ErrorCode::checkpoint, "what was watched is no part of this training");
  if (state.averaged < 0 || state.averaged > state.steps)
    throw Error(ErrorCode::checkpoint,
                fmt::format("an average of {} weights is no part of this training", state.averaged));
  if (state.epoch < 0 || state.batch < 0 || state.steps < state.batch || state.samples < 0)
    throw Error(ErrorCode::checkpoint, fmt::format("epoch {}, batch {}, step {} is no place in a training", state.epoch,
                                                   state.batch, state.steps));
}

void Progress::restore(const TrainingState& state) {
  epoch = state.epoch;
  batch = state.batch;
  steps = state.steps - state.batch;
  loss_sum = state.loss_sum;
  first_loss = state.first_loss;
  stopping = state.stopping;
  plateau = state.plateau;
  rate_drops = state.rate_drops;
  averaged = state.averaged;
  report = {.epoch = epoch + 1, .rate = state.rate};
  report.train = {.samples = state.samples,
                  .loss = mean_loss(state.loss_sum, double(state.samples)),  // begin_epoch knows the weights
                  .correct = state.correct};
}

template <class T>
StateVectors<T> vectors_of(const TrainingState& state, const Network& network, const OptimizerSpec& optimizer) {
  const auto require = [](const ParameterValues& values, std::int64_t size, const char* what) {
    const auto* own = std::get_if<AlignedBuffer<T>>(&values);
    if (own != nullptr && own->size() == size) return *own;
    const std::int64_t given = std::visit([](const auto& buffer) { return buffer.size(); }, values);
    throw Error(ErrorCode::checkpoint,
                fmt::format("the {} are {} numbers of {} bytes, {} of {} bytes are needed: the state belongs to "
                            "another network or optimizer",
                            what, given, own != nullptr ? sizeof(T) : 12 - sizeof(T), size, sizeof(T)));
  };
  Progress::check(state);
  const int vectors = state_vectors(optimizer);
  const auto trained = [&](int needed) { return vectors >= needed ? network.trainable_count() : 0; };
  return {.parameters = require(state.parameters, network.parameter_count(), "parameters"),
          .first = require(state.first, trained(1), "optimizer's first vector"),
          .second = require(state.second, trained(2), "optimizer's second vector"),
          .average = state.averaged > 0 ? require(state.average, network.parameter_count(), "averaged weights")
                                        : AlignedBuffer<T>()};
}
template <class T>
AlignedBuffer<T> carried_of(const TrainingState& state) {
  if (const auto* own = std::get_if<AlignedBuffer<T>>(&state.carried)) return *own;
  if (std::visit([](const auto& buffer) { return buffer.size(); }, state.carried) == 0) return {};
  throw Error(ErrorCode::checkpoint, "the states between two windows have another precision than the network");
}
template AlignedBuffer<float> carried_of(const TrainingState&);
template AlignedBuffer<double> carried_of(const TrainingState&);

template StateVectors<float> vectors_of(const TrainingState&, const Network&, const OptimizerSpec&);
template StateVectors<double> vectors_of(const TrainingState&, const Network&, const OptimizerSpec&);

std::vector<SectionName> sections_of(const Network& network) {
  std::vector<std::string> layers;
  for_each_layer(network.plans(), [&](const LayerPlan& plan) {
    layers.push_back(fmt::format("{} {}", plan.path, layer_type(plan.spec)));
  });
  return section_names(layers);
}

}  // namespace lockstep
