#pragma once

#include <vector>

#include "lockstep/nn/record.hpp"

namespace lockstep {

struct LayerSpec;

/// y = body(x) + shortcut(x); an empty shortcut is the identity.
struct Residual {
  std::vector<LayerSpec> body;
  std::vector<LayerSpec> shortcut;

  static constexpr const char* kName = "residual";
  static constexpr const char* kHelp = "body(x) + shortcut(x)";
  static constexpr const char* kExample = "{residual = {body = [...]}}";
  static constexpr auto fields() {
    return std::tuple{
        field("body", &Residual::body, "layers").needs("the list of layers whose result is added to the input"),
        field("shortcut", &Residual::shortcut, "layers; default: the input itself")};
  }
  std::string detail() const;
  void plan(LayerPlan& plan, const Init& init) const;
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

}  // namespace lockstep
