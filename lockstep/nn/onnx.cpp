#include "lockstep/nn/onnx.hpp"

namespace lockstep {

std::string onnx_flattened(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) {
  if (plan.in.rank() == 1) return x;
  return graph.node("Flatten", {x}, plan.path, {{"axis", std::int64_t{1}}});
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
