#pragma once
// An ONNX graph under construction: nodes, constants, one input, one output. Knows the file format; the record of a
// layer (nn/) knows its nodes. Batch sizes are free: the first extent of every value is the symbol N.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/nn/onnx.hpp"
#include "lockstep/tensor/shape.hpp"

namespace lockstep {

/// Just enough of the protobuf wire format to write ONNX: a message is a sequence of fields, each a key
/// (number << 3 | wire type, as a varint) and a value. Builds one message. Fields appear in the order of the calls; a
/// repeated field is written once per element.
class ProtobufMessage {
 public:
  /// int32, int64, enum: a varint; negative numbers take ten bytes.
  ProtobufMessage& integer(int field, std::int64_t value);
  /// float: four bytes, little-endian.
  ProtobufMessage& real(int field, float value);
  ProtobufMessage& text(int field, std::string_view value);
  ProtobufMessage& bytes(int field, std::span<const std::byte> value);
  ProtobufMessage& message(int field, const ProtobufMessage& value);

  const std::vector<std::byte>& data() const { return data_; }

 private:
  void key(int field, int wire_type);
  void varint(std::uint64_t value);

  std::vector<std::byte> data_;
};

class OnnxGraph : public OnnxBuilder {
 public:
  static constexpr const char* kInput = "input";
  static constexpr const char* kOutput = "output";

  explicit OnnxGraph(Precision precision) : precision_(precision) {}

  std::string node(const std::string& operation, const std::vector<std::string>& inputs, const std::string& path,
                   const std::vector<OnnxAttribute>& attributes) override;
  std::string scalar(double value) override;
  std::string integers(const std::string& name, std::span<const std::int64_t> values) override;
  /// A constant in the graph's precision.
  std::string tensor(const std::string& name, const Shape& shape, std::span<const std::byte> values);

  /// An entry of the file's metadata.
  void metadata(const std::string& key, const std::string& value) { metadata_[key] = value; }

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
  std::map<std::string, std::string> metadata_;
};

}  // namespace lockstep
