#pragma once

#include "lockstep/nn/record.hpp"

namespace lockstep {

/// Per channel of [channels,height,width] or per feature of [features]; see kernels/batch_norm.hpp.
/// running = (1 - momentum) * running + momentum * statistics of the batch.
struct BatchNorm {
  double momentum = 0.1;
  double eps = 1e-5;

  static constexpr const char* kName = "batch_norm";
  static constexpr const char* kHelp = "normalises each channel by the statistics of the slot";
  static constexpr auto fields() {
    return std::tuple{field("momentum", &BatchNorm::momentum, kShare, "weight of a batch in the running statistics"),
                      field("eps", &BatchNorm::eps, kPositive, "added to the variance")};
  }
  void plan(LayerPlan& plan, const Init& init) const;
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

}  // namespace lockstep
