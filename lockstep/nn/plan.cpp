#include "lockstep/nn/plan.hpp"

#include <fmt/format.h>

#include "lockstep/core/error.hpp"

namespace lockstep {

void require(const LayerPlan& plan, bool condition, const std::string& why) {
  if (condition) return;
  throw Error(ExitCode::usage,
              fmt::format("layer {} ({}): {}, input is {}", plan.path, layer_type(plan.spec), why, plan.in.str()));
}

void require_image(const LayerPlan& plan, const char* what) {
  require(plan, plan.in.rank() == 3, fmt::format("{} needs an image [channels,height,width]", what));
}

void add_parameter(LayerPlan& plan, const char* name, Shape shape, Role role, std::int64_t fan_in, std::int64_t fan_out,
                   const Init& init) {
  plan.parameters.push_back({.name = plan.path + "." + name,
                             .shape = shape,
                             .role = role,
                             .fan_in = fan_in,
                             .fan_out = fan_out,
                             .init = init});
}

void add_weight_and_bias(LayerPlan& plan, Shape weight, bool bias, std::int64_t fan_in, std::int64_t fan_out,
                         const Init& init) {
  add_parameter(plan, "weight", weight, Role::weight, fan_in, fan_out, init);
  const Init zero{.kind = InitKind::zeros};
  if (bias) add_parameter(plan, "bias", {weight[0]}, Role::bias, fan_in, fan_out, init.biases ? init : zero);
}

LayerPlan plan_layer(const LayerSpec& spec, const Shape& in, const std::string& path, const Init& init) {
  LayerPlan plan{.path = path, .spec = spec, .in = in, .out = in};
  std::visit([&](const auto& layer) { layer.plan(plan, init); }, spec.kind);
  return plan;
}

std::vector<LayerPlan> plan_sequence(const std::vector<LayerSpec>& specs, const Shape& in, const std::string& prefix,
                                     const Init& init) {
  std::vector<LayerPlan> plans;
  for (const LayerSpec& spec : specs)
    plans.push_back(
        plan_layer(spec, plans.empty() ? in : plans.back().out, prefix + std::to_string(plans.size()), init));
  return plans;
}

}  // namespace lockstep
