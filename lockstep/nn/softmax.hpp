#pragma once

#include "lockstep/nn/record.hpp"

namespace lockstep {

struct Softmax {
  static constexpr const char* kName = "softmax";
  static constexpr const char* kHelp = "exp(x_k) / sum of exp(x), over all features of a sample";
  static constexpr std::tuple<> fields() { return {}; }
  void plan(LayerPlan&, const Init&) const {}
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

}  // namespace lockstep
