#pragma once
// Trains a network: batches, slots, forward, loss, backward, the tree over slots, the optimiser step.
//
//   Trainer trainer(net, {.loss = Loss::cross_entropy, .optimizer = Adam{.lr = 1e-3}, .batch = 64, .seed = 1});
//   trainer.fit(train, {.epochs = 5});
//
// The weights after any number of steps are a pure function of (network, options, data).

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lockstep/data/dataset.hpp"
#include "lockstep/data/sample_weights.hpp"
#include "lockstep/distribute/step_requests.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/kernels/loss.hpp"
#include "lockstep/lab/phase_times.hpp"
#include "lockstep/lab/profile.hpp"
#include "lockstep/nn/network.hpp"
#include "lockstep/parallel/pipeline_schedule.hpp"
#include "lockstep/parallel/rank_reduction.hpp"
#include "lockstep/train/averaging.hpp"
#include "lockstep/train/metrics.hpp"
#include "lockstep/train/optimizer.hpp"
#include "lockstep/train/watch.hpp"

namespace lockstep {

/// Changes when the definition of a result changes: files made under another version are refused where bits matter.
inline constexpr int kNumericsVersion = 1;

/// Of the samples' gradients over a batch. The mean of weighted samples is the sum of weight * gradient, divided by the
/// sum of the batch's weights; a batch whose weights are all 0 has the gradient 0.
enum class Reduction { mean, sum };

/// The largest focal_gamma.
inline constexpr std::int64_t kMostGamma = 8;

/// How ranks share the work. ranks = data x pipeline x tensor: each group of pipeline x tensor ranks holds one network
/// and has samples of its own. A part of the network begins with the weights that the network has when the trainer is
/// made; after each epoch, and where state() is complete, rank 0 alone has the weights of all parts in its network.
struct ParallelOptions {
  RankReduction reduce = RankReduction::tree;  // over the ranks with the same part; library: bits of its own
  int tensor = 1;                              // ranks over which the outputs of every layer are split
  int pipeline = 1;                            // stages
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
};

/// Protection against faulty hardware (guard.hpp). Changes no bit of the result.
struct GuardOptions {
  double recheck = 0;  // share of the slots that is computed a second time, on another core; 0: nothing is checked
};

/// What it did so far.
struct GuardCounts {
  std::int64_t rechecked = 0;    // chunks of slots
  std::int64_t differences = 0;  // each was repeated
};

struct TrainOptions {
  Loss loss = Loss::cross_entropy;
  OptimizerSpec optimizer = Adam{};
  Schedule schedule{};
  double label_smoothing = 0;    // share of a label that goes to all classes alike; of cross-entropy, in training only
  std::int64_t focal_gamma = 2;  // of focal: 1 to 8
  double huber_delta = 1;        // of huber
  std::int64_t batch = 64;       // 0: the full batch
  std::int64_t slots = 0;        // a power of two; 0: auto
  Reduction reduction = Reduction::mean;
  ClassWeights class_weights{};  // times those of the samples (Dataset::weights); training only, not evaluations
  double l2 = 0;                 // adds l2/2 * |weights|^2 to the loss; biases excluded
  double clip_norm = 0;          // gradients with a larger norm are scaled down to it; 0: never
  /// Steps of a window: sequences are trained window by window, a step of the optimiser each; the states of recurrent
  /// layers are carried on, their gradients are not. 0: whole sequences.
  std::int64_t truncate = 0;
  Averaging average{};  // of the weights
  /// Layers whose parameters keep their values: "0", "4.body.1", as the names of parameters begin.
  std::vector<std::string> frozen{};
  bool shuffle = true;
  std::uint64_t seed = 1;  // shuffles and dropout; the network's own seed is for its initial weights
  Backend backend = Backend::simd;
  ParallelOptions parallel{};  // changes the time, not the result (save for RankReduction::library)
  GuardOptions guard{};
  std::vector<Metric> metrics{};  // that evaluations report besides loss and accuracy
  std::optional<EarlyStopping> early_stopping{};
  int threads = 0;  // 0: OMP_NUM_THREADS, else as many as this process may use. Changes the time, never the result

  LossOptions loss_options() const { return {loss, label_smoothing, focal_gamma, huber_delta}; }
  /// Whether evaluations of validation data decide something.
  bool needs_validation() const { return early_stopping || schedule.kind == ScheduleKind::plateau; }
};

/// Loss and accuracy over a set of samples. Evaluations count every sample once; the loss that training saw on its way
/// is the mean of weighted samples. Accuracy is always that of samples.
struct Scores {
  std::int64_t samples = 0;
  std::int64_t steps = 0;                 // with a class per step: all steps; else 0
  double loss = 0;                        // mean over samples, or over steps, without the L2 term
  std::optional<std::int64_t> correct{};  // nothing when the targets are real numbers
  std::vector<MetricValue> metrics{};     // TrainOptions::metrics, of evaluations
  std::optional<double> accuracy() const {
    const std::int64_t answers = steps > 0 ? steps : samples;
    return correct && answers > 0 ? std::optional(double(*correct) / double(answers)) : std::nullopt;
  }
  /// Nothing where it was not computed.
  std::optional<double> value(const Metric& metric) const;
};

struct EpochReport {
  std::int64_t epoch = 0;  // from 1
  std::int64_t steps = 0;  // since the beginning of training
  double rate = 0;         // learning rate of the last step
  Scores train;            // each batch scored before its update: what training saw on its way
  std::optional<Scores> validation{};
  double penalty = 0;  // the L2 term after the epoch
  /// With early stopping: the epoch with the best value so far; and whether this one ends the training.
  std::optional<std::int64_t> best_epoch{};
  bool stops = false;
  /// The mean loss of the training's first batch: that of the initial weights. Nothing: unknown, in a run that goes on
  /// from a state of an earlier version.
  std::optional<double> first_loss{};
  std::string weight_hash;
  PhaseTimes times;
  std::vector<PhaseTimes> rank_times{};  // of every rank, where there are several
};

struct StepReport {
  std::int64_t epoch = 0, epochs = 0;  // from 1
  std::int64_t step = 0, steps = 0;    // of this epoch, from 1
  std::int64_t samples_done = 0;       // of this epoch
  double loss = 0;                     // mean of this epoch so far
  double batch_loss = 0;               // mean of this step
  StepRequests requests{};             // of any rank, for this step
};

struct FitOptions {
  /// More epochs; a second fit continues where the first one ended. Where training stands in the middle of an epoch
  /// (restore, or a callback that threw), the rest of the epoch counts as the first.
  std::int64_t epochs = 1;
  const Dataset* validation = nullptr;
  /// Called once in every step, with the number of steps that are done when it ends.
  std::function<StepRequests(std::int64_t)> requests{};
  /// The learning rate of a step, from 0, in place of optimiser and schedule. A pure function, the same on every rank.
  std::function<double(std::int64_t)> rate{};
  std::function<void(const StepReport&)> on_step{};
  std::function<void(const EpochReport&)> on_epoch{};
  /// A line for every difference that TrainOptions::guard has found and mended, on the rank that found it.
  std::function<void(const std::string&)> on_fault{};
  SampleScores* samples =
      nullptr;                 // filled with those of the last validation; null: not wanted. The same on every rank
  Profile* profile = nullptr;  // filled with this fit's spans; null: none are taken
};

/// Everything that the next step depends on, besides network, options and data: independent of threads and backend.
struct TrainingState {
  std::int64_t epoch = 0;  // epochs done
  std::int64_t batch = 0;  // batches done of the present one; all of them: its validation is still to come
  std::int64_t steps = 0;  // done since the beginning of training

  // Sums over the batches done of the present epoch.
  double loss_sum = 0;
  std::int64_t samples = 0;
  std::optional<std::int64_t> correct{};  // nothing when the targets are real numbers, or no batch is done
  double rate = 0;                        // of the last step
  std::optional<double> first_loss{};     // EpochReport::first_loss
  Watch stopping{}, plateau{};            // of early stopping, and of the schedule `plateau`
  std::int64_t rate_drops = 0;            // of the schedule `plateau`
  std::int64_t averaged = 0;              // weights that `average` is made of

  // In the network's precision. `first` and `second` are the optimiser's vectors over the trainable parameters, empty
  // where it has none.
  ParameterValues parameters{}, first{}, second{};
  ParameterValues average{};  // of the parameters; empty where `averaged` is 0
  /// Between two windows of the same sequences: the states of recurrent layers, [rows][samples of the batch]. Else
  /// empty.
  ParameterValues carried{};
};

class Ranks;
class Loop;

class Trainer {
 public:
  /// Throws Error(usage) when network and options do not fit together. `network` must outlive the trainer.
  Trainer(Network& network, const TrainOptions& options);
  /// One of several ranks, each of which does the same with its own trainer: fit, step, gradient and evaluate are then
  /// steps that all of them take together. `ranks` must outlive the trainer.
  Trainer(Network& network, const TrainOptions& options, Ranks& ranks);
  ~Trainer();
  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;

  /// Throws Error(diverged), naming epoch and step, when the loss is no longer a finite number (seen in every step), or
  /// a weight or a running statistic is not (seen at the end of an epoch, and where a state or a stop is requested).
  /// All ranks then throw it at the same step.
  /// With TrainOptions::average the network holds the averaged weights in on_epoch and when fit returns, once there are
  /// any, and those of the last step in on_step and where an exception ends fit. The next fit goes on from the last
  /// step.
  std::vector<EpochReport> fit(const Dataset& data, const FitOptions& options);

  /// One step on the given samples; returns their mean loss before the update.
  double step(const Dataset& data, std::span<const std::int64_t> ids);

  /// The gradient of the (mean or summed) loss over the given samples, with the L2 term, before clipping: one value per
  /// element of the parameter vector; the entries of running statistics are their sums over the batch.
  std::vector<double> gradient(const Dataset& data, std::span<const std::int64_t> ids);

  /// How many of options().threads take part in a step on this data: no more than have slots, and no more than make the
  /// step shorter. The others take part in evaluations.
  int step_threads(const Dataset& data) const;

  /// Throws Error(usage) when the data does not fit the network and the loss.
  void check(const Dataset& data) const;

  /// `samples`: filled with those of every sample; null: not wanted. The same on every rank.
  Scores evaluate(const Dataset& data, SampleScores* samples = nullptr) const;

  /// Whether early stopping has ended the training: fit then does nothing.
  bool stopped_early() const;

  /// l2/2 * |weights|^2 for the present weights.
  double penalty() const;

  const TrainOptions& options() const;

  /// Of this rank; zeros without TrainOptions::guard.
  GuardCounts guard_counts() const;

  /// A copy of where training stands: callable outside fit, and within it from on_step and on_epoch. Each of several
  /// ranks has its own part of the optimiser's state; all of it only after fit, and in on_step where `save` was
  /// requested.
  TrainingState state() const;
  /// The counts of `state`, without its vectors.
  TrainingState counts() const;

  /// Goes on from there, weights included: fit then gives the reports, and ends with the bits, of a trainer that was
  /// never stopped. Error(checkpoint) when the state belongs to another network or optimiser; nothing is changed then.
  void restore(const TrainingState& state);

 private:
  std::unique_ptr<Ranks> alone_;  // where no ranks were given
  std::unique_ptr<Loop> loop_;
};

/// Runs the whole network forward in inference mode. Output [samples][outputs], row-major. A network trained with
/// cross-entropy that ends in a linear layer gives logits. Predictor (predictor.hpp) is for calls without end.
std::vector<double> predict(const Network& network, const Dataset& data, std::span<const std::int64_t> ids,
                            Backend backend = Backend::simd, int threads = 0);

}  // namespace lockstep
