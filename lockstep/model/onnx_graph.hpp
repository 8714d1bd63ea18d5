#pragma once
// An ONNX graph under construction: nodes, constants, one input, one output. Knows the file format and nothing of
// networks; export_onnx.cpp knows which nodes a layer becomes. Batch sizes are free: the first extent of every value
// is the symbol N.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lockstep/model/protobuf.hpp"
#include "lockstep/tensor/shape.hpp"

namespace lockstep {

/// A named attribute of a node: a number, or a list of whole numbers.
struct OnnxAttribute {
  OnnxAttribute(std::string_view name, std::int64_t value);
  OnnxAttribute(std::string_view name, double value);  // stored in float32: the format has no other
  OnnxAttribute(std::string_view name, std::initializer_list<std::int64_t> values);

  ProtobufMessage proto;
};

class OnnxGraph {
 public:
  static constexpr const char* kInput = "input";
  static constexpr const char* kOutput = "output";

  explicit OnnxGraph(Precision precision) : precision_(precision) {}

  /// Adds a node with one output and returns that output's name, made from `path` (the layer) and the operation.
  std::string node(const std::string& operation, const std::vector<std::string>& inputs, const std::string& path,
                   const std::vector<OnnxAttribute>& attributes = {});

  /// Add a constant, return its name. Values of a tensor are in the graph's precision.
  std::string tensor(const std::string& name, const Shape& shape, std::span<const std::byte> values);
  std::string scalar(double value);
  std::string integers(const std::string& name, std::span<const std::int64_t> values);

  /// The finished file: `result` (a node's output, or kInput itself) becomes the graph's output. Error(usage) when it
  /// would exceed the 2 GB that a protobuf message holds.
  std::vector<std::byte> finish(const std::string& result, const Shape& input, const Shape& output);

 private:
  struct Node {
    std::string operation, output;
    std::vector<std::string> inputs;
    std::vector<OnnxAttribute> attributes;
  };
  int element_type() const;
  ProtobufMessage value_info(const std::string& name, const Shape& shape) const;

  Precision precision_;
  std::vector<Node> nodes_;
  std::map<std::string, int> uses_;  // of each output name: the second Mul of a layer becomes "3.Mul_2"
  std::map<std::string, ProtobufMessage> constants_;
};

}  // namespace lockstep
