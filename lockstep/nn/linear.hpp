#pragma once

#include "lockstep/nn/record.hpp"

namespace lockstep {

/// y = w x + b on the flattened sample, or on every step of a sequence.
struct Linear {
  std::int64_t out = 0;
  bool bias = true;
  std::optional<Init> init{};  // default: the network's
  bool per_step = false;

  static constexpr const char* kName = "linear";
  static constexpr const char* kHelp = "y = w x + b; flattens its input";
  static constexpr const char* kExample = "{linear = 10}";
  static constexpr auto fields() {
    return std::tuple{field("out", &Linear::out, kOutputRange, "outputs").needs("the number of outputs").shorthand(),
                      field("bias", &Linear::bias, kBiasHelp), field("init", &Linear::init, kInitHelp),
                      field("per_step", &Linear::per_step, kPerStepHelp).quiet()};
  }
  std::string detail() const;
  void plan(LayerPlan& plan, const Init& init) const;
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

}  // namespace lockstep
