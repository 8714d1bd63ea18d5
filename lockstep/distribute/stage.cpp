#include "lockstep/distribute/stage.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/nn/columns.hpp"
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

/// Gives the parameters of one kind the next places of the stage's vector.
void place(Stage& stage, const Network& network, bool trainable) {
  const std::size_t first_piece = stage.pieces.size();
  for_each_layer(stage.plans, [&](LayerPlan& plan) {
    for (ParameterInfo& info : plan.parameters) {
      if (info.trainable() != trainable) continue;
      const auto found = std::find_if(network.parameters().begin(), network.parameters().end(),
                                      [&](const ParameterInfo& each) { return each.name == info.name; });
      stage.places.push_back(static_cast<std::size_t>(found - network.parameters().begin()));
      info.offset = stage.count;
      for (std::int64_t block = 0; block < info.blocks; ++block) {
        const std::int64_t first = found->offset + block * (found->elements() / info.blocks) + info.skipped;
        const Piece piece{stage.count, first, info.elements() / info.blocks};
        const bool more = stage.pieces.size() > first_piece;
        if (more && stage.pieces.back().whole + stage.pieces.back().count == piece.whole)
          stage.pieces.back().count += piece.count;
        else if (piece.count > 0)
          stage.pieces.push_back(piece);
        stage.count += piece.count;
      }
      stage.parameters.push_back(info);
    }
  });
}

/// Gives the weights of data gradients their places; the first trained layer of the network needs none.
void place_columns(Stage& stage, bool first) {
  bool trained_before = !first;
  for (LayerPlan& each : stage.plans) {
    std::vector<LayerPlan*> plans = {&each};
    for_each_layer(each.body, [&](LayerPlan& inner) { plans.push_back(&inner); });
    for_each_layer(each.shortcut, [&](LayerPlan& inner) { plans.push_back(&inner); });
    for (LayerPlan* plan : plans) {
      const auto shape = weight_shape(*plan);
      if (!shape || (!trained_before && plan == &each)) continue;
      plan->columns = stage.columns;
      stage.columns += column_elements(*shape, {0, shape->out}, plan->in_split.part(shape->in, plan->member));
    }
    trained_before = trained_before || !each.parameters.empty() || !each.body.empty();
  }
}

}  // namespace

std::vector<LayerPlan> body_of(const Network& network, Loss loss) {
  std::vector<LayerPlan> plans = network.plans();
  if (plans.empty()) throw Error(ErrorCode::usage, "the network has no layers");
  const LayerSpec& last = plans.back().spec;
  if (is_of_softmax(loss) && std::holds_alternative<Softmax>(last.kind)) plans.pop_back();
  if (loss == Loss::binary_cross_entropy) {
    const auto* sigmoid = std::get_if<Sigmoid>(&last.kind);
    if (sigmoid == nullptr || sigmoid->lambda != 1)
      throw Error(ErrorCode::usage,
                  fmt::format("binary-cross-entropy needs a network that ends in sigmoid with lambda 1; "
                              "this one ends in {}",
                              layer_type(last)));
    plans.pop_back();
  }
  return plans;
}

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

std::vector<Stage> cut_into_stages(const Network& network, const std::vector<LayerPlan>& body, int stages, int members,
                                   const std::vector<LayerPlan>* weighed) {
  if (stages > 1 && static_cast<std::size_t>(stages) > body.size())
    throw Error(
        ErrorCode::usage,
        fmt::format("parallel.pipeline = {}: the network has {} layers, and a stage needs one", stages, body.size()));
  std::vector<double> costs;
  for (const LayerPlan& plan : weighed != nullptr ? *weighed : body) costs.push_back(cost_of(plan));
  std::vector<std::vector<LayerPlan>> parts(static_cast<std::size_t>(members), body);
  for (int m = 0; members > 1 && m < members; ++m)
    split_layers(parts[static_cast<std::size_t>(m)], m, members, split_channels(network.input()[0], members));
  std::vector<Stage> result;
  std::size_t first = 0;
  std::int64_t inputs = network.input().elements();
  for (const std::size_t last : balanced_cuts(costs, static_cast<std::size_t>(stages))) {
    const std::int64_t outputs = last == first ? inputs : body[last - 1].out.elements();
    for (int m = 0; m < members; ++m) {
      const std::vector<LayerPlan>& part = parts[static_cast<std::size_t>(m)];
      Stage& stage = result.emplace_back();
      stage.plans.assign(part.begin() + static_cast<std::ptrdiff_t>(first),
                         part.begin() + static_cast<std::ptrdiff_t>(last));
      stage.inputs = inputs;
      stage.outputs = outputs;
      stage.member = m;
      if (first < part.size()) stage.in_split = part[first].in_split;
      if (last < part.size()) stage.out_split = part[last].in_split;
      place(stage, network, true);
      stage.trainable = stage.count;
      place(stage, network, false);
      if (members > 1) place_columns(stage, first == 0);
    }
    inputs = outputs;
    first = last;
  }
  return result;
}

}  // namespace lockstep
