#pragma once

#include "lockstep/nn/record.hpp"

namespace lockstep {

/// Over all features of a sample, or of each of its steps, with a weight and a bias per element; see
/// kernels/layer_norm.hpp.
struct LayerNorm {
  double eps = 1e-5;
  bool per_step = false;

  static constexpr const char* kName = "layer_norm";
  static constexpr const char* kHelp = "normalises the features of each sample by their mean and variance";
  static constexpr auto fields() {
    return std::tuple{field("eps", &LayerNorm::eps, kPositive, "added to the variance"),
                      field("per_step", &LayerNorm::per_step, kPerStepHelp).quiet()};
  }
  void plan(LayerPlan& plan, const Init& init) const;
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

}  // namespace lockstep
