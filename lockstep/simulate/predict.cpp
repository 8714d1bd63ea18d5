#include "lockstep/simulate/predict.hpp"

#include <algorithm>

#include "lockstep/distribute/stage.hpp"
#include "lockstep/nn/columns.hpp"
#include "lockstep/train/slot_chunks.hpp"

namespace lockstep {

namespace {

struct Layout {
  RunConfig config;
  Network network;
  std::vector<Stage> parts;
  double scalar;  // bytes of a number
};

Layout layout_of(const StepPlan& plan) {
  RunConfig config = config_of(plan);
  Network network = make_network(config);
  std::vector<Stage> parts =
      cut_into_stages(network, body_of(network, config.train.loss), plan.parallel.pipeline, plan.parallel.tensor);
  const double scalar = config.model.precision == Precision::float64 ? 8 : 4;
  return {std::move(config), std::move(network), std::move(parts), scalar};
}

/// What the members of a tensor group send each other for one chunk, forward and back (docs/algorithms.md), and once
/// per step.
double split_seconds(const Layout& layout, const StepPlan& plan, const AlphaBeta& network, double samples,
                     double chunks) {
  const int members = plan.parallel.tensor;
  if (members == 1) return 0;
  double seconds = 0, columns = 0;
  bool first = true;
  for (std::size_t part = 0; part < layout.parts.size(); part += static_cast<std::size_t>(members)) {
    for_each_layer(layout.parts[part].plans, [&](const LayerPlan& layer) {
      const auto shape = weight_shape(layer);
      if (!shape) return;
      const double in = double(layer.in.elements()), out = double(layer.out.elements());
      if (!first) {
        seconds += chunks * gather_seconds(network, members, in * samples * layout.scalar);
        seconds += chunks * gather_seconds(network, members, out * samples * layout.scalar);
        columns += double(column_elements(*shape, {0, shape->out}, {0, shape->in})) * layout.scalar / members;
      }
      first = false;
    });
  }
  return seconds + gather_seconds(network, members, columns);
}

}  // namespace

double predict_step(const StepPlan& plan, const AlphaBeta& network, const std::vector<double>& work) {
  const Layout layout = layout_of(plan);
  const int parts = static_cast<int>(layout.parts.size());
  const int replicas = static_cast<int>(work.size()) / parts;
  const double slowest = *std::max_element(work.begin(), work.end());
  const double slots = std::max(1.0, double(plan.slots) / replicas);  // of a replica
  const double slot_samples = double(padded(std::max<std::int64_t>(plan.batch / plan.slots, 1)));
  double seconds = slowest;
  std::int64_t together = 1;
  if (plan.parallel.pipeline > 1) {
    std::vector<double> stages;
    double widest = 0;
    for (int rank = 0; rank < parts; rank += plan.parallel.tensor) {
      stages.push_back(work[static_cast<std::size_t>(rank)] / slots);
      if (rank > 0) widest = std::max(widest, double(layout.parts[static_cast<std::size_t>(rank)].inputs));
    }
    seconds = pipeline_seconds(network, stages, static_cast<std::int64_t>(slots),
                               widest * slot_samples * layout.scalar / plan.parallel.tensor);
  } else if (plan.parallel.tensor > 1) {
    const auto per_number = static_cast<std::size_t>(layout.scalar);
    together = std::min(static_cast<std::int64_t>(slots),
                        slots_per_chunk(plan.batch, plan.slots,
                                        {Sequence<float>(layout.parts[0].plans).activation_elements(),
                                         layout.network.parameter_count(), per_number}));
  }
  seconds += split_seconds(layout, plan, network, slot_samples * double(together), slots / double(together));
  std::int64_t largest = 0;
  for (const Stage& part : layout.parts) largest = std::max(largest, part.count);
  return seconds + reduction_seconds(plan.parallel.reduce, network, replicas,
                                     {.slots = plan.slots, .bytes = double(largest) * layout.scalar});
}

double bytes_per_rank(const StepPlan& plan, int ranks) {
  const Layout layout = layout_of(plan);
  // Weights, gradient, sums of the tree, what comes from other ranks, the total, two vectors of the optimiser.
  constexpr double kVectors = 8;
  const double numbers = double(layout.network.parameter_count());
  const double samples = std::max(1.0, double(plan.batch) / ranks);
  const double activations =
      double(Sequence<float>(body_of(layout.network, layout.config.train.loss)).activation_elements());
  const double chunk = std::min(samples * activations * layout.scalar, std::max(numbers * layout.scalar, 512.0 * 1024));
  const double order = double(plan.batch) * (plan.steps + 1) * 8;  // every rank has the order of all samples
  return kVectors * numbers * layout.scalar + chunk + order + 256 * 1024;
}

}  // namespace lockstep
