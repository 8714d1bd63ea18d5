#pragma once
// Activations: y = f(x), element by element. The formulas stand in kernels/activation.hpp.

#include "lockstep/nn/record.hpp"

namespace lockstep {

struct Relu {
  static constexpr const char* kName = "relu";
  static constexpr const char* kHelp = "max(x, 0)";
  static constexpr std::tuple<> fields() { return {}; }
  void plan(LayerPlan&, const Init&) const {}
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

struct LeakyRelu {
  double slope = 0.01;

  static constexpr const char* kName = "leaky_relu";
  static constexpr const char* kHelp = "x above 0, slope * x below";
  static constexpr auto fields() {
    return std::tuple{field("slope", &LeakyRelu::slope, kFraction, "slope below 0").shorthand()};
  }
  void plan(LayerPlan& plan, const Init& init) const;
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

struct Tanh {
  static constexpr const char* kName = "tanh";
  static constexpr const char* kHelp = "hyperbolic tangent";
  static constexpr std::tuple<> fields() { return {}; }
  void plan(LayerPlan&, const Init&) const {}
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

struct AbsTanh {
  static constexpr const char* kName = "abs_tanh";
  static constexpr const char* kHelp = "absolute value of tanh(x)";
  static constexpr std::tuple<> fields() { return {}; }
  void plan(LayerPlan&, const Init&) const {}
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

struct Sigmoid {
  double lambda = 1;

  static constexpr const char* kName = "sigmoid";
  static constexpr const char* kHelp = "1 / (1 + exp(-lambda x))";
  static constexpr auto fields() {
    return std::tuple{field("lambda", &Sigmoid::lambda, kPositive, "steepness").shorthand()};
  }
  std::string detail() const;
  void plan(LayerPlan& plan, const Init& init) const;
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

struct Gelu {
  static constexpr const char* kName = "gelu";
  static constexpr const char* kHelp = "Gaussian error linear unit, the tanh form";
  static constexpr std::tuple<> fields() { return {}; }
  void plan(LayerPlan&, const Init&) const {}
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

}  // namespace lockstep
