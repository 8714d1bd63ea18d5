#pragma once
// From a description to a plan: shapes checked, geometry resolved, parameters listed. Independent of the scalar type
// and of the machine; layer.hpp turns a plan into something that runs.

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/nn/layers.hpp"
#include "lockstep/nn/parameters.hpp"
#include "lockstep/nn/split.hpp"

namespace lockstep {

struct LayerPlan {
  std::string path;  // "0", "4.body.1"
  LayerSpec spec;
  Shape in, out;
  std::vector<ParameterInfo> parameters{};
  std::vector<LayerPlan> body{}, shortcut{};  // of a residual block
  std::int64_t state = 0;                     // where its rows begin among the carried states (place_states)
  std::uint32_t id = 0;                       // position in the walk over all layers: keys the random streams

  // Where the layer is split over the members of a group (split.hpp).
  int member = 0;
  Split in_split{}, out_split{};  // of the input's gradient, and of the output
  Split parameter_split{};        // of the parameters' channels
  std::int64_t columns = -1;      // where the weights for the input's gradient begin (columns.hpp); -1: none are kept
};

/// Throws Error(usage) that names the layer and both shapes when it does not fit. `init` serves layers without their
/// own.
LayerPlan plan_layer(const LayerSpec& spec, const Shape& in, const std::string& path, const Init& init);
std::vector<LayerPlan> plan_sequence(const std::vector<LayerSpec>& specs, const Shape& in, const std::string& prefix,
                                     const Init& init);

/// Error(usage) where `plan` has an embedding and a layer of `before` has weights: tokens have no gradient, and nothing
/// would train them.
void check_tokens(const std::vector<LayerPlan>& before, const LayerPlan& plan);

// For the plan() of a layer's record.
/// Error(usage) that names the layer, `why` and the input's shape.
void require(const LayerPlan& plan, bool condition, const std::string& why);
void require_image(const LayerPlan& plan, const char* what);
void add_parameter(LayerPlan& plan, const char* name, Shape shape, Role role, std::int64_t fan_in, std::int64_t fan_out,
                   const Init& init);
void add_weight_and_bias(LayerPlan& plan, Shape weight, bool bias, std::int64_t fan_in, std::int64_t fan_out,
                         const Init& init);

/// Calls visit(plan) for every layer, residual blocks before their inner layers (body, then shortcut).
template <class Plans, class Visit>
void for_each_layer(Plans& plans, const Visit& visit) {
  for (auto& plan : plans) {
    visit(plan);
    for_each_layer(plan.body, visit);
    for_each_layer(plan.shortcut, visit);
  }
}

}  // namespace lockstep
