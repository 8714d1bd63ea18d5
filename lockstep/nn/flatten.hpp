#pragma once

#include "lockstep/nn/record.hpp"

namespace lockstep {

/// Changes the shape alone: sequences leave it out.
struct Flatten {
  static constexpr const char* kName = "flatten";
  static constexpr const char* kHelp = "an image as a list of features";
  static constexpr std::tuple<> fields() { return {}; }
  void plan(LayerPlan& plan, const Init& init) const;
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

}  // namespace lockstep
