#pragma once
// What a layer needs of an ONNX graph under construction; model/onnx_graph.hpp knows the file format.

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "lockstep/nn/plan.hpp"

namespace lockstep {

/// What Cast calls 64-bit integers (TensorProto.INT64).
inline constexpr std::int64_t kOnnxInt64 = 7;

/// A named attribute of a node. A double is stored in float32: the format has no other.
struct OnnxAttribute {
  std::string name;
  std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<std::string>> value;
};

class OnnxBuilder {
 public:
  virtual ~OnnxBuilder() = default;

  /// Adds a node with one output and returns that output's name, made from `path` (the layer) and the operation.
  virtual std::string node(const std::string& operation, const std::vector<std::string>& inputs,
                           const std::string& path, const std::vector<OnnxAttribute>& attributes = {}) = 0;
  /// Add a constant, return its name.
  virtual std::string scalar(double value) = 0;
  virtual std::string integers(const std::string& name, std::span<const std::int64_t> values) = 0;
};

/// x as [N, features].
std::string onnx_flattened(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x);

/// [N, a, b] as [N, b, a]; a weight [a, b] as [b, a].
std::string onnx_steps_first(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x);
std::string onnx_transposed(OnnxBuilder& graph, const LayerPlan& plan, const std::string& weight);

/// x and the names of the layer's parameters: the inputs of a node with weights.
std::vector<std::string> onnx_inputs(const std::string& x, const LayerPlan& plan);

/// The nodes of all layers behind each other; returns the name of the last output.
std::string onnx_sequence(OnnxBuilder& graph, const std::vector<LayerPlan>& plans, std::string x);

}  // namespace lockstep
