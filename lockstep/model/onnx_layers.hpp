#pragma once
// From nodes of an ONNX graph to layers. Inner to onnx_import.cpp.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/model/onnx_file.hpp"
#include "lockstep/nn/network.hpp"

namespace lockstep {

/// A layer with its parameters, in the order of its plan.
struct ImportedLayer {
  LayerSpec spec;
  std::vector<Array> parameters{};
  std::vector<ImportedLayer> body{}, shortcut{};  // of a residual block
};

/// Constants by name: initializers, and the values of Constant nodes.
class OnnxConstants {
 public:
  explicit OnnxConstants(const OnnxFile& file);
  const OnnxTensor* find(const std::string& name) const;
  /// Error(data) that names the node where it is no constant of numbers.
  const Array& array(const OnnxNode& node, std::size_t input) const;
  std::vector<std::int64_t> integers(const OnnxNode& node, std::size_t input) const;

 private:
  std::map<std::string, const OnnxTensor*> all_;
};

/// Error(data): what the node is called, and what is wrong with it.
[[noreturn]] void refuse_node(const OnnxNode& node, const std::string& what);

/// Whether some network may have the operator; `onnx_operators()` lists them for messages.
bool is_onnx_operator(const OnnxNode& node);
std::string onnx_operators();

/// The layers of a node with one input that is no constant, for samples of this shape; none: it changes nothing.
std::vector<ImportedLayer> layers_of_node(const OnnxNode& node, const OnnxConstants& constants, const Shape& shape);

}  // namespace lockstep
