#pragma once

#include "lockstep/nn/record.hpp"

namespace lockstep {

/// Multi-head self-attention over [features, steps], with a product before and behind it; parameters have PyTorch's
/// names and order (MultiheadAttention). See kernels/attention.hpp.
struct Attention {
  std::int64_t heads = 0;
  bool causal = false, bias = true;
  std::optional<Init> init{};

  static constexpr const char* kName = "attention";
  static constexpr const char* kHelp = "multi-head self-attention over [features, steps]";
  static constexpr const char* kExample = "{attention = {heads = 4, causal = true}}";
  static constexpr auto fields() {
    return std::tuple{
        field("heads", &Attention::heads, IntRange{1, 4096}, "they share the features").needs("the number of heads"),
        field("causal", &Attention::causal, "a step sees itself and the steps before it"),
        field("bias", &Attention::bias, kBiasHelp), field("init", &Attention::init, kInitHelp)};
  }
  std::string detail() const;
  void plan(LayerPlan& plan, const Init& init) const;
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

}  // namespace lockstep
