#include "lockstep/train/trainer.hpp"

#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/kernels/device/device.hpp"
#include "lockstep/train/device_executor.hpp"
#include "lockstep/train/loop.hpp"
#include "lockstep/train/thread_executor.hpp"

namespace lockstep {

namespace {

void check_options(const TrainOptions& o) {
  const auto require = [](bool condition, const std::string& message) {
    if (!condition) throw Error(ErrorCode::usage, message);
  };
  require(o.batch >= 0, fmt::format("batch = {} must be at least 1, or 0 for the full batch", o.batch));
  require(
      o.slots == 0 || (o.slots > 0 && o.slots <= kMaxSlots && std::has_single_bit(static_cast<std::uint64_t>(o.slots))),
      fmt::format("slots = {} must be a power of two from 1 to {}", o.slots, kMaxSlots));
  require(o.threads >= 0 && o.threads <= kMaxThreads,
          fmt::format("threads = {} must be from 1 to {}, or 0 for auto", o.threads, kMaxThreads));
  require(o.label_smoothing >= 0 && o.label_smoothing < 1,
          fmt::format("label_smoothing = {} must be at least 0 and below 1", o.label_smoothing));
  require(o.label_smoothing == 0 || o.loss == Loss::cross_entropy,
          fmt::format("label_smoothing is for cross-entropy, and the loss is {}", name_of(o.loss)));
  require(o.focal_gamma >= 1 && o.focal_gamma <= kMostGamma,
          fmt::format("focal_gamma = {} must be a whole number from 1 to {}", o.focal_gamma, kMostGamma));
  require(std::isfinite(o.huber_delta) && o.huber_delta > 0,
          fmt::format("huber_delta = {} must be a number above 0", o.huber_delta));
  require(o.l2 >= 0, fmt::format("l2 = {} must not be negative", o.l2));
  require(o.truncate >= 0, fmt::format("truncate = {} must be at least 1, or 0 for whole sequences", o.truncate));
  require(o.clip_norm >= 0, fmt::format("clip_norm = {} must not be negative", o.clip_norm));
  require(std::isfinite(base_rate(o.optimizer)) && base_rate(o.optimizer) >= 0,
          fmt::format("lr = {} must be a finite number, at least 0", base_rate(o.optimizer)));
}

void check_parallel(const ParallelOptions& p, int ranks) {
  const auto require = [](bool condition, const std::string& message) {
    if (!condition) throw Error(ErrorCode::usage, message);
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

void check_guard(const TrainOptions& o) {
  const auto require = [](bool condition, const std::string& message) {
    if (!condition) throw Error(ErrorCode::usage, message);
  };
  require(o.guard.recheck >= 0 && o.guard.recheck <= 1,
          fmt::format("guard.recheck = {} must be from 0 to 1", o.guard.recheck));
  if (o.guard.recheck == 0) return;
  require(o.backend == Backend::simd || o.backend == Backend::naive,
          fmt::format("guard.recheck compares the bits of two processor cores, and the backend is {}; use simd or "
                      "naive, or set guard.recheck = 0",
                      backend_names()[static_cast<std::size_t>(o.backend)]));
  require(
      o.parallel.pipeline * o.parallel.tensor == 1,
      "guard.recheck needs ranks that hold the whole network: set parallel.pipeline = 1 and parallel.tensor = 1, or "
      "guard.recheck = 0");
}

std::unique_ptr<Loop> make_loop(Network& network, const TrainOptions& options, Ranks& ranks) {
  check_options(options);
  check_parallel(options.parallel, ranks.size());
  check_guard(options);
  const auto make = [&]<class T>(TrainingSetup& setup, T) -> std::unique_ptr<Executor> {
    if (!on_device(options.backend)) return std::make_unique<ThreadExecutor<T>>(setup);
    return std::make_unique<DeviceExecutor<T>>(setup, device_of_rank(options, ranks), make_table<T>(options.backend));
  };
  return std::make_unique<Loop>(network, options, ranks, [&](TrainingSetup& setup) {
    return network.precision() == Precision::float32 ? make(setup, float{}) : make(setup, double{});
  });
}

}  // namespace

std::optional<double> Scores::value(const Metric& metric) const {
  if (metric.kind == MetricKind::loss) return loss;
  if (metric.kind == MetricKind::accuracy) return accuracy();
  for (const MetricValue& each : metrics)
    if (each.name == metric.name()) return each.value;
  return std::nullopt;
}

Trainer::Trainer(Network& network, const TrainOptions& options)
    : alone_(std::make_unique<Ranks>(make_self_transport())), loop_(make_loop(network, options, *alone_)) {}

Trainer::Trainer(Network& network, const TrainOptions& options, Ranks& ranks)
    : loop_(make_loop(network, options, ranks)) {}

Trainer::~Trainer() = default;
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;

std::vector<EpochReport> Trainer::fit(const Dataset& data, const FitOptions& options) {
  return loop_->fit(data, options);
}
double Trainer::step(const Dataset& data, std::span<const std::int64_t> ids) { return loop_->step(data, ids); }
std::vector<double> Trainer::gradient(const Dataset& data, std::span<const std::int64_t> ids) {
  return loop_->gradient(data, ids);
}
int Trainer::step_threads(const Dataset& data) const { return loop_->step_threads(data); }
void Trainer::check(const Dataset& data) const { loop_->check(data); }
Scores Trainer::evaluate(const Dataset& data, SampleScores* samples) const { return loop_->evaluate(data, samples); }
bool Trainer::stopped_early() const { return loop_->stopped_early(); }
double Trainer::penalty() const { return loop_->penalty(); }
const TrainOptions& Trainer::options() const { return loop_->options(); }
TrainingState Trainer::state() const { return loop_->state(); }

GuardCounts Trainer::guard_counts() const { return loop_->guard_counts(); }
TrainingState Trainer::counts() const { return loop_->counts(); }
void Trainer::restore(const TrainingState& state) { loop_->restore(state); }

}  // namespace lockstep
