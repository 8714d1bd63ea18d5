#pragma once
// Activations: y = f(x), element by element. The formulas stand in kernels/activation.hpp.

#include "lockstep/kernels/activation.hpp"
#include "lockstep/nn/record.hpp"

namespace lockstep {

constexpr Described describe(ActivationKind kind) {
  switch (kind) {
    case ActivationKind::relu:
      return {"relu", "max(x, 0)"};
    case ActivationKind::leaky_relu:
      return {"leaky_relu", "x above 0, slope * x below"};
    case ActivationKind::tanh:
      return {"tanh", "hyperbolic tangent"};
    case ActivationKind::abs_tanh:
      return {"abs_tanh", "absolute value of tanh(x)"};
    case ActivationKind::sigmoid:
      return {"sigmoid", "1 / (1 + exp(-lambda x))"};
    case ActivationKind::gelu:
      return {"gelu", "Gaussian error linear unit, the tanh form"};
  }
  return {};
}

/// The activations without options.
template <ActivationKind kKind>
struct PlainActivation {
  static constexpr const char* kName = describe(kKind).name;
  static constexpr const char* kHelp = describe(kKind).help;
  static constexpr std::tuple<> fields() { return {}; }
  void plan(LayerPlan&, const Init&) const {}
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};
using Relu = PlainActivation<ActivationKind::relu>;
using Tanh = PlainActivation<ActivationKind::tanh>;
using AbsTanh = PlainActivation<ActivationKind::abs_tanh>;
using Gelu = PlainActivation<ActivationKind::gelu>;

struct LeakyRelu {
  double slope = 0.01;

  static constexpr const char* kName = describe(ActivationKind::leaky_relu).name;
  static constexpr const char* kHelp = describe(ActivationKind::leaky_relu).help;
  static constexpr auto fields() {
    return std::tuple{field("slope", &LeakyRelu::slope, kFraction, "slope below 0").shorthand()};
  }
  void plan(LayerPlan& plan, const Init& init) const;
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

struct Sigmoid {
  double lambda = 1;

  static constexpr const char* kName = describe(ActivationKind::sigmoid).name;
  static constexpr const char* kHelp = describe(ActivationKind::sigmoid).help;
  static constexpr auto fields() {
    return std::tuple{field("lambda", &Sigmoid::lambda, kPositive, "steepness").shorthand()};
  }
  std::string detail() const;
  void plan(LayerPlan& plan, const Init& init) const;
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

}  // namespace lockstep
