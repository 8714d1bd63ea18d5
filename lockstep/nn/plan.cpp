#include "lockstep/nn/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"
#include "lockstep/nn/layers.hpp"
#include "lockstep/nn/onnx.hpp"

namespace lockstep {

namespace {

/// "momentum 0.1, eps 1e-05"
template <class Record>
std::string all_fields(const Record& record) {
  std::vector<std::string> parts;
  for_each_in(Record::fields(),
              [&](const auto& each) { parts.push_back(fmt::format("{} {}", each.name, each.of(record))); });
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

void require(const LayerPlan& plan, bool condition, const std::string& why) {
  if (condition) return;
  throw Error(ErrorCode::usage,
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
  for (const LayerSpec& spec : specs) {
    LayerPlan plan =
        plan_layer(spec, plans.empty() ? in : plans.back().out, prefix + std::to_string(plans.size()), init);
    check_tokens(plans, plan);
    plans.push_back(std::move(plan));
  }
  return plans;
}

void check_tokens(const std::vector<LayerPlan>& before, const LayerPlan& plan) {
  bool weights = false;
  for_each_layer(before, [&](const LayerPlan& each) { weights |= !each.parameters.empty(); });
  if (!weights) return;
  const std::vector<LayerPlan> one{plan};
  for_each_layer(one, [](const LayerPlan& each) {
    require(each, !std::holds_alternative<Embedding>(each.spec.kind),
            "an embedding takes tokens, which have no gradient: put it before every layer that has weights");
  });
}

std::string extent_text(const Extent& extent) { return fmt::format("{}x{}", extent.height, extent.width); }

std::string detail_unless(const char* name, const Extent& extent, std::int64_t usual) {
  if (extent == Extent(usual)) return "";
  return fmt::format(", {} {}", name,
                     extent.height == extent.width ? std::to_string(extent.height) : extent_text(extent));
}

std::string layer_type(const LayerSpec& spec) {
  return std::visit([](const auto& layer) { return std::string(layer.kName); }, spec.kind);
}

std::string layer_detail(const LayerSpec& spec) {
  return std::visit(
      [](const auto& layer) {
        if constexpr (requires { layer.detail(); })
          return layer.detail();
        else
          return all_fields(layer);
      },
      spec.kind);
}

std::string onnx_flattened(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) {
  if (plan.in.rank() == 1) return x;
  return graph.node("Flatten", {x}, plan.path, {{"axis", std::int64_t{1}}});
}

std::string onnx_steps_first(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) {
  return graph.node("Transpose", {x}, plan.path, {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
}

std::string onnx_transposed(OnnxBuilder& graph, const LayerPlan& plan, const std::string& weight) {
  return graph.node("Transpose", {weight}, plan.path, {{"perm", std::vector<std::int64_t>{1, 0}}});
}

std::vector<std::string> onnx_inputs(const std::string& x, const LayerPlan& plan) {
  std::vector<std::string> inputs{x};
  for (const ParameterInfo& info : plan.parameters) inputs.push_back(info.name);
  return inputs;
}

std::string onnx_sequence(OnnxBuilder& graph, const std::vector<LayerPlan>& plans, std::string x) {
  for (const LayerPlan& plan : plans)
    x = std::visit([&](const auto& layer) { return layer.onnx(graph, plan, x); }, plan.spec.kind);
  return x;
}

}  // namespace lockstep
