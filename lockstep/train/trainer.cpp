#include "lockstep/train/trainer.hpp"

#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/samples.hpp"
#include "lockstep/kernels/device/devices.hpp"
#include "lockstep/train/device_engine.hpp"
#include "lockstep/train/engine.hpp"

namespace lockstep {

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

void check_data(const Network& network, Loss loss, const Dataset& data) {
  check_input(network.input(), data);
  const std::int64_t outputs = network.output().elements();
  if (data.classes() == 0) {
    if (loss == Loss::cross_entropy)
      throw Error(ExitCode::usage,
                  "cross-entropy needs class labels, but the data has real-valued targets; use "
                  "binary-cross-entropy or squared-error");
    if (data.target_size() != outputs)
      throw Error(ExitCode::usage, fmt::format("the data has targets of {} but the model has {}",
                                               count_of(data.target_size(), "number"), count_of(outputs, "output")));
    return;
  }
  const bool single = outputs == 1 && data.classes() == 2 && loss != Loss::cross_entropy;
  if (!single && data.classes() > outputs)
    throw Error(ExitCode::usage,
                fmt::format("the data has {} but the model has {}", count_of(data.classes(), "class", "classes"),
                            count_of(outputs, "output")));
}

namespace {

void check_options(const TrainOptions& o) {
  const auto require = [](bool condition, const std::string& message) {
    if (!condition) throw Error(ExitCode::usage, message);
  };
  require(o.batch >= 0, fmt::format("batch = {} must be at least 1, or 0 for the full batch", o.batch));
  require(
      o.slots == 0 || (o.slots > 0 && o.slots <= kMaxSlots && std::has_single_bit(static_cast<std::uint64_t>(o.slots))),
      fmt::format("slots = {} must be a power of two from 1 to {}", o.slots, kMaxSlots));
  require(o.threads >= 0 && o.threads <= kMaxThreads,
          fmt::format("threads = {} must be from 1 to {}, or 0 for auto", o.threads, kMaxThreads));
  require(o.l2 >= 0, fmt::format("l2 = {} must not be negative", o.l2));
  require(o.clip_norm >= 0, fmt::format("clip_norm = {} must not be negative", o.clip_norm));
  require(std::isfinite(base_rate(o.optimizer)) && base_rate(o.optimizer) >= 0,
          fmt::format("lr = {} must be a finite number, at least 0", base_rate(o.optimizer)));
}

void check_parallel(const ParallelOptions& p, int ranks) {
  const auto require = [](bool condition, const std::string& message) {
    if (!condition) throw Error(ExitCode::usage, message);
  };
  require(p.pipeline >= 1, fmt::format("parallel.pipeline = {} must be at least 1", p.pipeline));
  require(p.tensor >= 1, fmt::format("parallel.tensor = {} must be at least 1", p.tensor));
  const int parts = p.pipeline * p.tensor;
  const std::string keys = p.tensor == 1 ? fmt::format("parallel.pipeline = {}", p.pipeline)
                           : p.pipeline == 1
                               ? fmt::format("parallel.tensor = {}", p.tensor)
                               : fmt::format("parallel.pipeline = {} with parallel.tensor = {}", p.pipeline, p.tensor);
  require(ranks % parts == 0,
          fmt::format("{} needs a multiple of {} ranks, and there {} {}: start it with mpirun -n {}, or set {} = 1",
                      keys, parts, ranks == 1 ? "is" : "are", ranks, parts,
                      p.tensor == 1     ? "parallel.pipeline"
                      : p.pipeline == 1 ? "parallel.tensor"
                                        : "both"));
  require(parts == 1 || p.reduce != RankReduction::library,
          fmt::format("parallel.reduce = \"mpi\" adds up over all ranks, but with {} they have different weights; use "
                      "tree",
                      keys));
}

std::unique_ptr<TrainingEngine> make_engine(Network& network, const TrainOptions& options, Ranks& ranks) {
  check_options(options);
  check_parallel(options.parallel, ranks.size());
  const auto make = [&]<class T>(T) -> std::unique_ptr<TrainingEngine> {
    if (!on_device(options.backend)) return std::make_unique<Engine<T>>(network, options, ranks);
    return std::make_unique<DeviceEngine<T>>(network, options, ranks, device_of_rank(options, ranks),
                                             make_table<T>(options.backend));
  };
  return network.precision() == Precision::float32 ? make(float{}) : make(double{});
}

}  // namespace

Trainer::Trainer(Network& network, TrainOptions options)
    : alone_(std::make_unique<Ranks>(make_self_transport())), engine_(make_engine(network, options, *alone_)) {}

Trainer::Trainer(Network& network, TrainOptions options, Ranks& ranks)
    : engine_(make_engine(network, options, ranks)) {}

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
void Trainer::check(const Dataset& data) const { engine_->check(data); }
Scores Trainer::evaluate(const Dataset& data) const { return engine_->evaluate(data); }
double Trainer::penalty() const { return engine_->penalty(); }
const TrainOptions& Trainer::options() const { return engine_->options(); }
TrainingState Trainer::state() const { return engine_->state(); }
void Trainer::restore(const TrainingState& state) { engine_->restore(state); }

}  // namespace lockstep
