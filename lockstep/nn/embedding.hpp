#pragma once

#include "lockstep/nn/record.hpp"

namespace lockstep {

/// Row x_t of the weight [vocabulary, out] for token x_t of every step: [steps] becomes [out, steps].
struct Embedding {
  std::int64_t out = 0, vocabulary = 0;
  std::optional<Init> init{};  // default: N(0, 1)

  static constexpr const char* kName = "embedding";
  static constexpr const char* kHelp = "a learned vector for each token of [steps]: [out, steps]";
  static constexpr const char* kExample = "{embedding = {out = 64, vocabulary = 256}}";
  static constexpr auto fields() {
    return std::tuple{field("out", &Embedding::out, kOutputRange, "numbers per token").needs("the numbers per token"),
                      field("vocabulary", &Embedding::vocabulary, kOutputRange, "tokens there are")
                          .needs("the number of tokens: 256 for bytes; `inspect` tells the characters of a text"),
                      field("init", &Embedding::init, "initialiser of the weights; default: scale 1, normal")};
  }
  std::string detail() const;
  void plan(LayerPlan& plan, const Init& init) const;
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

/// y = x + weight, a number per feature and step: learned, or the sines and cosines of InitKind::sinusoidal, which
/// stay.
struct Positions {
  std::optional<Init> init{};  // default: 0.02 N(0, 1)
  bool sinusoidal = false;

  static constexpr const char* kName = "positions";
  static constexpr const char* kHelp = "adds numbers to [features, steps] that tell the steps apart: learned, or sines";
  static constexpr auto fields() {
    return std::tuple{
        field("init", &Positions::init, "initialiser of the numbers; default: scale 0.02, normal"),
        field("sinusoidal", &Positions::sinusoidal, "sine and cosine of the step, fixed: nothing is learned").quiet()};
  }
  std::string detail() const;
  void plan(LayerPlan& plan, const Init& init) const;
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

}  // namespace lockstep
