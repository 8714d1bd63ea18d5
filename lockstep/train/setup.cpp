// What is trained, and this rank's part of it (executor.hpp).

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/nn/sequence.hpp"
#include "lockstep/train/executor.hpp"
#include "lockstep/train/windows.hpp"

namespace lockstep {

TrainingSetup::TrainingSetup(Network& trained, const TrainOptions& given, Ranks& all)
    : network(trained),
      options(given),
      ranks(all),
      parts(cut_for_training()),
      grid(ranks, parts, options.parallel.tensor),
      stage(grid.stage()) {
  if (options.truncate > 0 && options.guard.recheck > 0)
    throw Error(ErrorCode::usage,
                "train.truncate carries states on that are not computed twice; leave guard.recheck out, or "
                "train.truncate");
  if (options.guard.recheck > 0)
    guard = std::make_unique<Guard>(options.guard, options.seed, ranks.rank(), ranks.transport().host());
  if (!needs_whole_batch()) return;
  if (options.parallel.pipeline > 1 || options.parallel.tensor > 1)
    throw Error(ErrorCode::usage,
                fmt::format("batch_norm: over = \"batch\" needs whole layers on every rank, and {} is {}: "
                            "set it to 1, or over = \"slot\"",
                            options.parallel.pipeline > 1 ? "parallel.pipeline" : "parallel.tensor",
                            std::max(options.parallel.pipeline, options.parallel.tensor)));
  if (guard)
    throw Error(
        ErrorCode::usage,
        "batch_norm: over = \"batch\" has no slots that can be computed a second time alone; leave guard.recheck "
        "out, or set over = \"slot\"");
  grid.replicas().share_in_halves();
}

/// Windows and whole sequences are cut at the same layers.
std::vector<Stage> TrainingSetup::cut_for_training() {
  const ParallelOptions& by = options.parallel;
  const std::vector<LayerPlan> whole = body_of(network, options.loss);
  if (options.truncate == 0) return cut_into_stages(network, whole, by.pipeline, by.tensor);
  const Network window = window_of(network, options.truncate);
  std::vector<LayerPlan> body = body_of(window, options.loss);
  state_rows = place_states(body);
  whole_parts = cut_into_stages(network, whole, by.pipeline, by.tensor, &body);
  return cut_into_stages(window, body, by.pipeline, by.tensor);
}

std::int64_t TrainingSetup::slots_for(const Dataset& data) const {
  return options.slots > 0 ? options.slots : auto_slots(batch_for(data));
}

}  // namespace lockstep
