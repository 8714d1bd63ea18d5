#include "lockstep/train/stage.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/nn/layer.hpp"

namespace lockstep {

namespace {

/// In operations; a byte counts as one, which suits layers that only move data.
double cost_of(const LayerPlan& plan) {
  if (std::holds_alternative<Flatten>(plan.spec.kind)) return 0;
  const auto layer = make_layer<float>(plan);
  const Cost cost = layer->forward_cost(1) + layer->backward_cost(1, true);
  return cost.flops + cost.bytes;
}

/// Gives the parameters of one kind the next places of the stage's vector; where they begin in the network's.
std::int64_t place(Stage& stage, const Network& network, bool trainable) {
  std::int64_t first = -1;
  for_each_layer(stage.plans, [&](LayerPlan& plan) {
    for (ParameterInfo& info : plan.parameters) {
      if (info.trainable() != trainable) continue;
      const auto found = std::find_if(network.parameters().begin(), network.parameters().end(),
                                      [&](const ParameterInfo& each) { return each.name == info.name; });
      stage.places.push_back(static_cast<std::size_t>(found - network.parameters().begin()));
      if (first < 0) first = found->offset;
      info.offset = stage.count;
      stage.count += info.elements();
      stage.parameters.push_back(info);
    }
  });
  return std::max<std::int64_t>(first, 0);
}

}  // namespace

std::vector<std::size_t> balanced_cuts(const std::vector<double>& costs, std::size_t stages) {
  // best[s][n]: the smallest largest sum of the first n layers in s + 1 stages, and where the last of these begins.
  const std::size_t layers = costs.size();
  std::vector<double> sums(layers + 1, 0);
  std::partial_sum(costs.begin(), costs.end(), sums.begin() + 1);
  std::vector<std::vector<double>> best(stages,
                                        std::vector<double>(layers + 1, std::numeric_limits<double>::infinity()));
  std::vector<std::vector<std::size_t>> begin(stages, std::vector<std::size_t>(layers + 1, 0));
  best[0] = sums;
  for (std::size_t s = 1; s < stages; ++s)
    for (std::size_t n = s + 1; n <= layers; ++n)
      for (std::size_t cut = s; cut < n; ++cut) {
        const double worst = std::max(best[s - 1][cut], sums[n] - sums[cut]);
        if (worst < best[s][n]) {
          best[s][n] = worst;
          begin[s][n] = cut;
        }
      }
  std::vector<std::size_t> cuts(stages, layers);
  for (std::size_t s = stages; s-- > 1;) cuts[s - 1] = begin[s][cuts[s]];
  return cuts;
}

std::vector<Stage> cut_into_stages(const Network& network, const std::vector<LayerPlan>& body, int stages) {
  if (stages > 1 && static_cast<std::size_t>(stages) > body.size())
    throw Error(ExitCode::usage, fmt::format("parallel.pipeline = {}: the network has {} layers, and a stage needs one",
                                             stages, body.size()));
  std::vector<double> costs;
  for (const LayerPlan& plan : body) costs.push_back(cost_of(plan));
  std::vector<Stage> result;
  std::size_t first = 0;
  for (const std::size_t last : balanced_cuts(costs, static_cast<std::size_t>(stages))) {
    Stage& stage = result.emplace_back();
    stage.plans.assign(body.begin() + static_cast<std::ptrdiff_t>(first),
                       body.begin() + static_cast<std::ptrdiff_t>(last));
    stage.inputs = first == 0 ? network.input().elements() : result[result.size() - 2].outputs;
    stage.outputs = stage.plans.empty() ? stage.inputs : stage.plans.back().out.elements();
    stage.first_trainable = place(stage, network, true);
    stage.trainable = stage.count;
    stage.first_statistic = place(stage, network, false);
    first = last;
  }
  return result;
}

}  // namespace lockstep
