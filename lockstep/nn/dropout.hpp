#pragma once

#include "lockstep/nn/record.hpp"

namespace lockstep {

struct Dropout {
  double p = 0.5;

  static constexpr const char* kName = "dropout";
  static constexpr const char* kHelp = "sets elements to 0 in training, scales the others by 1 / (1 - p)";
  static constexpr auto fields() {
    return std::tuple{field("p", &Dropout::p, kFraction, "share of elements set to 0").shorthand()};
  }
  void plan(LayerPlan& plan, const Init& init) const;
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

}  // namespace lockstep
