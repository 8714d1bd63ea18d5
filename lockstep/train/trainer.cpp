#include "lockstep/train/trainer.hpp"

#include <bit>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/batches.hpp"
#include "lockstep/parallel/tree_sum.hpp"
#include "lockstep/train/update.hpp"
#include "lockstep/train/worker.hpp"

namespace lockstep {

namespace {

constexpr std::int64_t kScoreBlock = 64;  // samples per chunk of an evaluation; part of the order of its loss

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The layers that run in training: without a final softmax or sigmoid that the loss contains.
std::vector<LayerPlan> body_of(const Network& network, Loss loss) {
  std::vector<LayerPlan> plans = network.plans();
  if (plans.empty()) throw Error(ExitCode::usage, "the network has no layers");
  const LayerSpec& last = plans.back().spec;
  if (loss == Loss::cross_entropy && std::holds_alternative<Softmax>(last.kind)) plans.pop_back();
  if (loss == Loss::binary_cross_entropy) {
    const auto* sigmoid = std::get_if<Sigmoid>(&last.kind);
    if (sigmoid == nullptr || sigmoid->lambda != 1)
      throw Error(ExitCode::usage,
                  fmt::format("binary-cross-entropy needs a network that ends in sigmoid with lambda 1; "
                              "this one ends in {}",
                              layer_type(last)));
    plans.pop_back();
  }
  return plans;
}

void check_options(const TrainOptions& o) {
  const auto require = [](bool condition, const std::string& message) {
    if (!condition) throw Error(ExitCode::usage, message);
  };
  require(o.batch >= 0, fmt::format("batch = {} must be at least 1, or 0 for the full batch", o.batch));
  require(
      o.slots == 0 || (o.slots > 0 && o.slots <= kMaxSlots && std::has_single_bit(static_cast<std::uint64_t>(o.slots))),
      fmt::format("slots = {} must be a power of two from 1 to {}", o.slots, kMaxSlots));
  require(o.l2 >= 0, fmt::format("l2 = {} must not be negative", o.l2));
  require(o.clip_norm >= 0, fmt::format("clip_norm = {} must not be negative", o.clip_norm));
  require(std::isfinite(base_rate(o.optimizer)) && base_rate(o.optimizer) >= 0,
          fmt::format("lr = {} must be a finite number, at least 0", base_rate(o.optimizer)));
}

void check_data(const Network& network, Loss loss, const Dataset& data) {
  if (data.features() != network.input().elements())
    throw Error(ExitCode::usage, fmt::format("the data has samples {} but the model input is {}",
                                             data.sample_shape().str(), network.input().str()));
  const std::int64_t outputs = network.output().elements();
  if (data.classes() == 0) {
    if (loss == Loss::cross_entropy)
      throw Error(ExitCode::usage,
                  "cross-entropy needs class labels, but the data has real-valued targets; use "
                  "binary-cross-entropy or squared-error");
    if (data.target_size() != outputs)
      throw Error(ExitCode::usage, fmt::format("the data has targets of {} numbers but the model has {} outputs",
                                               data.target_size(), outputs));
    return;
  }
  const bool single = outputs == 1 && data.classes() == 2 && loss != Loss::cross_entropy;
  if (!single && data.classes() > outputs)
    throw Error(ExitCode::usage,
                fmt::format("the data has {} classes but the model has {} outputs", data.classes(), outputs));
}

}  // namespace

/// The trainer behind its precision.
struct Trainer::Engine {
  virtual ~Engine() = default;
  virtual std::vector<EpochReport> fit(const Dataset& data, const FitOptions& options) = 0;
  virtual double step(const Dataset& data, std::span<const std::int64_t> ids) = 0;
  virtual std::vector<double> gradient(const Dataset& data, std::span<const std::int64_t> ids) = 0;
  virtual Scores evaluate(const Dataset& data) = 0;
  virtual double penalty() = 0;
  TrainOptions options;
};

template <class T>
struct Trainer::EngineOf : Engine {
  EngineOf(Network& net, const TrainOptions& train_options)
      : network(net),
        body(body_of(net, train_options.loss)),
        kernels(make_table<T>(train_options.backend)),
        update(train_options.optimizer, net.parameters(), net.trainable_count()),
        worker(body, net.input().elements(), net.output().elements(), train_options.loss, kernels) {
    options = train_options;
  }

  std::int64_t slots_for(const Dataset& data) const {
    if (options.slots > 0) return options.slots;
    return auto_slots(options.batch > 0 ? options.batch : data.size());
  }

  /// The gradient of one batch, summed over its slots, and its scores.
  struct BatchResult {
    T* gradient;
    double loss;  // summed over the samples
    std::int64_t correct;
  };

  BatchResult run_batch(const Dataset& data, std::span<const std::int64_t> ids) {
    const std::int64_t slots = slots_for(data);
    if (!tree || slots != tree_leaves) {
      tree = std::make_unique<TreeSum<T>>(network.parameter_count(), slots);
      tree_leaves = slots;
    }
    const std::vector<std::int64_t> bounds = cut_into_slots(static_cast<std::int64_t>(ids.size()), slots);
    scores.loss.assign(static_cast<std::size_t>(slots), 0);
    scores.correct.assign(static_cast<std::size_t>(slots), 0);
    tree->clear();
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      run_slot(data, ids, bounds, slot);
      const auto start = Clock::now();
      tree->push(kernels, worker.context());
      times.reduce += seconds_since(start);
    }
    std::int64_t correct = 0;
    for (const std::int64_t count : scores.correct) correct += count;
    return {tree->total(), block_tree(scores.loss), correct};
  }

  void run_slot(const Dataset& data, std::span<const std::int64_t> ids, const std::vector<std::int64_t>& bounds,
                std::int64_t slot) {
    const auto first = static_cast<std::size_t>(bounds[static_cast<std::size_t>(slot)]);
    const auto count = static_cast<std::size_t>(bounds[static_cast<std::size_t>(slot) + 1]) - first;
    T* const leaf = tree->next_leaf();
    if (count == 0) {  // the sum of nothing
      std::fill_n(leaf, network.parameter_count(), T(0));
      return;
    }
    const std::int64_t columns[] = {0, static_cast<std::int64_t>(count)};
    const T scale = options.reduction == Reduction::mean ? T(1) / T(ids.size()) : T(1);
    worker.run({.data = data,
                .ids = ids.subspan(first, count),
                .slots = {columns},
                .parameters = network.data<T>(),
                .scale = scale,
                .gradients = leaf,
                .seed = options.seed,
                .epoch = static_cast<std::uint32_t>(epoch)},
               scores, static_cast<std::size_t>(slot), times);
  }

  /// One optimiser step; the scores are those before it.
  BatchResult train_batch(const Dataset& data, std::span<const std::int64_t> ids, double rate) {
    const BatchResult batch = run_batch(data, ids);
    const auto start = Clock::now();
    T* const parameters = network.data<T>();
    KernelContext& context = worker.context();
    if (options.l2 > 0) update.add_l2(options.l2, parameters, batch.gradient, kernels, context);
    if (options.clip_norm > 0) update.clip(options.clip_norm, batch.gradient, kernels, context);
    update.step(rate, parameters, batch.gradient, kernels, context);
    body.update_statistics(parameters, batch.gradient, static_cast<std::int64_t>(ids.size()));
    times.update += seconds_since(start);
    ++steps;
    return batch;
  }

  void check_finite(double loss, std::int64_t step_in_epoch) const {
    if (std::isfinite(loss)) return;
    throw Error(ExitCode::diverged,
                fmt::format("training diverged: the loss is {} at epoch {}, step {}; lower train.optimizer.lr or set "
                            "train.clip_norm",
                            loss, epoch + 1, step_in_epoch));
  }

  EpochReport run_epoch(const Dataset& data, const FitOptions& fit_options, std::int64_t total_epochs) {
    const auto start = Clock::now();
    times = {};
    const Batches batches({.samples = data.size(),
                           .batch = options.batch,
                           .shuffle = options.shuffle,
                           .seed = options.seed,
                           .epoch = epoch});
    EpochReport report{.epoch = epoch + 1};
    std::int64_t correct = 0;
    double loss = 0;
    for (std::int64_t b = 0; b < batches.count(); ++b) {
      const auto ids = batches.ids(b);
      report.rate = base_rate(options.optimizer) *
                    schedule_factor(options.schedule, steps, epoch, total_epochs * batches.count());
      const BatchResult batch = train_batch(data, ids, report.rate);
      check_finite(batch.loss, b + 1);
      loss += batch.loss;
      correct += batch.correct;
      report.train.samples += static_cast<std::int64_t>(ids.size());
      if (fit_options.on_step)
        fit_options.on_step({.epoch = epoch + 1,
                             .epochs = total_epochs,
                             .step = b + 1,
                             .steps = batches.count(),
                             .samples_done = report.train.samples,
                             .loss = loss / double(report.train.samples)});
    }
    report.steps = steps;
    report.train.loss = loss / double(report.train.samples);
    if (data.classes() > 0) report.train.correct = correct;
    ++epoch;
    times.total = seconds_since(start);
    return report;
  }

  std::vector<EpochReport> fit(const Dataset& data, const FitOptions& fit_options) override {
    check_data(network, options.loss, data);
    if (data.size() == 0) throw Error(ExitCode::data, "there are no samples to train on");
    if (fit_options.validation != nullptr) check_data(network, options.loss, *fit_options.validation);
    std::vector<EpochReport> reports;
    for (const std::int64_t last = epoch + fit_options.epochs; epoch < last;) {
      EpochReport report = run_epoch(data, fit_options, last);
      if (fit_options.validation != nullptr) {
        const auto start = Clock::now();
        report.validation = evaluate(*fit_options.validation);
        times.validation = seconds_since(start);
      }
      report.penalty = penalty();
      report.weight_hash = weight_hash(network.values());
      report.times = times;
      if (fit_options.on_epoch) fit_options.on_epoch(report);
      reports.push_back(std::move(report));
    }
    return reports;
  }

  double step(const Dataset& data, std::span<const std::int64_t> ids) override {
    check_data(network, options.loss, data);
    const double rate = base_rate(options.optimizer) * schedule_factor(options.schedule, steps, epoch, steps + 1);
    const BatchResult batch = train_batch(data, ids, rate);
    check_finite(batch.loss, steps);
    return batch.loss / double(ids.size());
  }

  std::vector<double> gradient(const Dataset& data, std::span<const std::int64_t> ids) override {
    check_data(network, options.loss, data);
    const BatchResult batch = run_batch(data, ids);
    if (options.l2 > 0) update.add_l2(options.l2, network.data<T>(), batch.gradient, kernels, worker.context());
    return {batch.gradient, batch.gradient + network.parameter_count()};
  }

  Scores evaluate(const Dataset& data) override {
    check_data(network, options.loss, data);
    const std::int64_t blocks = (data.size() + kScoreBlock - 1) / kScoreBlock;
    SlotScores result{.loss = std::vector<double>(static_cast<std::size_t>(blocks)),
                      .correct = std::vector<std::int64_t>(static_cast<std::size_t>(blocks))};
    PhaseTimes ignored;
    std::vector<std::int64_t> ids;
    for (std::int64_t block = 0; block < blocks; ++block) {
      ids.clear();
      for (std::int64_t id = block * kScoreBlock; id < std::min(data.size(), (block + 1) * kScoreBlock); ++id)
        ids.push_back(id);
      const std::int64_t columns[] = {0, static_cast<std::int64_t>(ids.size())};
      worker.run({.data = data, .ids = ids, .slots = {columns}, .parameters = network.data<T>()}, result,
                 static_cast<std::size_t>(block), ignored);
    }
    Scores total{.samples = data.size()};
    if (data.size() > 0) total.loss = block_tree(result.loss) / double(data.size());
    if (data.classes() > 0) {
      total.correct = 0;
      for (const std::int64_t count : result.correct) *total.correct += count;
    }
    return total;
  }

  double penalty() override {
    if (options.l2 == 0) return 0;
    double sum = 0;
    for (const ParameterInfo& info : network.parameters())
      if (info.role == Role::weight)
        sum += square_norm<T>(network.data<T>() + info.offset, info.elements(), kernels, worker.context());
    return options.l2 / 2 * sum;
  }

  Network& network;
  Sequence<T> body;
  KernelTable<T> kernels;
  Update<T> update;
  Worker<T> worker;
  std::unique_ptr<TreeSum<T>> tree;
  std::int64_t tree_leaves = 0;
  SlotScores scores;
  PhaseTimes times;
  std::int64_t epoch = 0, steps = 0;  // done
};

Trainer::Trainer(Network& network, TrainOptions options) {
  check_options(options);
  if (network.precision() == Precision::float32)
    engine_ = std::make_unique<EngineOf<float>>(network, options);
  else
    engine_ = std::make_unique<EngineOf<double>>(network, options);
}

Trainer::~Trainer() = default;
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;

std::vector<EpochReport> Trainer::fit(const Dataset& data, const FitOptions& options) {
  return engine_->fit(data, options);
}
double Trainer::step(const Dataset& data, std::span<const std::int64_t> ids) { return engine_->step(data, ids); }
std::vector<double> Trainer::gradient(const Dataset& data, std::span<const std::int64_t> ids) {
  return engine_->gradient(data, ids);
}
Scores Trainer::evaluate(const Dataset& data) const { return engine_->evaluate(data); }
double Trainer::penalty() const { return engine_->penalty(); }
const TrainOptions& Trainer::options() const { return engine_->options; }

}  // namespace lockstep
