#include "lockstep/nn/flatten.hpp"

#include "lockstep/core/error.hpp"
#include "lockstep/nn/layer.hpp"
#include "lockstep/nn/onnx.hpp"

namespace lockstep {

void Flatten::plan(LayerPlan& plan, const Init&) const { plan.out = {plan.in.elements()}; }

std::string Flatten::onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const {
  return onnx_flattened(graph, plan, x);
}

template <class T>
std::unique_ptr<Layer<T>> Flatten::make(const LayerPlan&) const {
  throw Error(ErrorCode::bug, "flatten has nothing to compute");
}

LOCKSTEP_INSTANTIATE_LAYER(Flatten);

}  // namespace lockstep
