#include "lockstep/model/onnx_graph.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/version.hpp"
#include "lockstep/model/export.hpp"

namespace lockstep {

namespace {

constexpr int kVarint = 0, kLengthDelimited = 2, kFixed32 = 5;  // types of fields

// Versions of the format and of the operators; the first that knows the second is IR 8.
constexpr int kIrVersion = 8;
constexpr int kOpset = kOnnxOpset;

// Numbers of fields and enumerators in onnx.proto.
namespace model {
enum { ir_version = 1, producer_name = 2, producer_version = 3, graph = 7, opset_import = 8, metadata_props = 14 };
}
namespace graph {
enum { node = 1, name = 2, initializer = 5, input = 11, output = 12 };
}
namespace node_field {
enum { input = 1, output = 2, name = 3, op_type = 4, attribute = 5 };
}
namespace attribute {
enum { name = 1, f = 2, i = 3, s = 4, ints = 8, strings = 9, type = 20 };
enum { kind_float = 1, kind_int = 2, kind_string = 3, kind_ints = 7, kind_strings = 8 };
}  // namespace attribute
namespace tensor_field {
enum { dims = 1, data_type = 2, name = 8, raw_data = 9 };
}
constexpr int kFloat = 1, kInt64 = 7, kDouble = 11;  // element types

ProtobufMessage make_tensor(const std::string& name, int type, std::span<const std::int64_t> dims,
                            std::span<const std::byte> values) {
  ProtobufMessage tensor;
  for (const std::int64_t extent : dims) tensor.integer(tensor_field::dims, extent);
  tensor.integer(tensor_field::data_type, type);
  tensor.text(tensor_field::name, name);
  tensor.bytes(tensor_field::raw_data, values);
  return tensor;
}

/// The value of an attribute, behind its name.
struct AttributeValue {
  ProtobufMessage& proto;

  void operator()(std::int64_t value) const {
    proto.integer(attribute::i, value).integer(attribute::type, attribute::kind_int);
  }
  void operator()(double value) const {
    proto.real(attribute::f, static_cast<float>(value)).integer(attribute::type, attribute::kind_float);
  }
  void operator()(const std::string& value) const {
    proto.text(attribute::s, value).integer(attribute::type, attribute::kind_string);
  }
  void operator()(const std::vector<std::string>& values) const {
    for (const std::string& value : values) proto.text(attribute::strings, value);
    proto.integer(attribute::type, attribute::kind_strings);
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    for (const std::int64_t value : values) proto.integer(attribute::ints, value);
    proto.integer(attribute::type, attribute::kind_ints);
  }
};

ProtobufMessage make_attribute(const OnnxAttribute& entry) {
  ProtobufMessage proto;
  proto.text(attribute::name, entry.name);
  std::visit(AttributeValue{proto}, entry.value);
  return proto;
}

}  // namespace

void ProtobufMessage::varint(std::uint64_t value) {
  // Seven bits per byte, the lowest first; the top bit says that more follow.
  while (value >= 0x80) {
    data_.push_back(static_cast<std::byte>(value | 0x80));
    value >>= 7;
  }
  data_.push_back(static_cast<std::byte>(value));
}

void ProtobufMessage::key(int field, int wire_type) { varint(static_cast<std::uint64_t>(field) << 3 | wire_type); }

ProtobufMessage& ProtobufMessage::integer(int field, std::int64_t value) {
  key(field, kVarint);
  varint(static_cast<std::uint64_t>(value));
  return *this;
}

ProtobufMessage& ProtobufMessage::real(int field, float value) {
  key(field, kFixed32);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8) data_.push_back(static_cast<std::byte>(bits >> shift));
  return *this;
}

ProtobufMessage& ProtobufMessage::text(int field, std::string_view value) {
  return bytes(field, std::as_bytes(std::span(value)));
}

ProtobufMessage& ProtobufMessage::bytes(int field, std::span<const std::byte> value) {
  key(field, kLengthDelimited);
  varint(value.size());
  data_.insert(data_.end(), value.begin(), value.end());
  return *this;
}

ProtobufMessage& ProtobufMessage::message(int field, const ProtobufMessage& value) { return bytes(field, value.data_); }

int OnnxGraph::element_type() const { return precision_ == Precision::float32 ? kFloat : kDouble; }

std::string OnnxGraph::node(const std::string& operation, const std::vector<std::string>& inputs,
                            const std::string& path, const std::vector<OnnxAttribute>& attributes) {
  std::string output = fmt::format("{}.{}", path, operation);
  if (const int use = ++uses_[output]; use > 1) output += fmt::format("_{}", use);
  nodes_.push_back({.operation = operation, .output = output, .inputs = inputs, .attributes = attributes});
  return output;
}

std::string OnnxGraph::tensor(const std::string& name, const Shape& shape, std::span<const std::byte> values) {
  constants_.insert_or_assign(name, make_tensor(name, element_type(), shape.extents(), values));
  return name;
}

std::string OnnxGraph::scalar(double value) {
  const std::string name = fmt::format("constant.{}", value);
  const float rounded = static_cast<float>(value);
  const bool single = precision_ == Precision::float32;
  return tensor(name, Shape{}, single ? std::as_bytes(std::span(&rounded, 1)) : std::as_bytes(std::span(&value, 1)));
}

std::string OnnxGraph::integers(const std::string& name, std::span<const std::int64_t> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  constants_.insert_or_assign(name, make_tensor(name, kInt64, std::span(&count, 1), std::as_bytes(values)));
  return name;
}

ProtobufMessage OnnxGraph::value_info(const std::string& name, const Shape& shape) const {
  // ValueInfoProto{name = 1, type = 2{tensor_type = 1{elem_type = 1, shape = 2{dim = 1{dim_value = 1, dim_param =
  // 2}}}}}
  ProtobufMessage dims;
  dims.message(1, ProtobufMessage().text(2, "N"));
  for (const std::int64_t extent : shape.extents()) dims.message(1, ProtobufMessage().integer(1, extent));
  const auto tensor_type = ProtobufMessage().integer(1, element_type()).message(2, dims);
  return ProtobufMessage().text(1, name).message(2, ProtobufMessage().message(1, tensor_type));
}

std::vector<std::byte> OnnxGraph::finish(const std::string& result, const Shape& input, const Shape& output) {
  // The last value gets the public name. No node reads this value, so only its own node changes.
  const auto last = std::ranges::find(nodes_, result, &Node::output);
  if (last == nodes_.end())
    nodes_.push_back({.operation = "Identity", .output = kOutput, .inputs = {result}, .attributes = {}});
  else
    last->output = kOutput;

  ProtobufMessage body;
  for (const Node& node : nodes_) {
    ProtobufMessage proto;
    for (const std::string& name : node.inputs) proto.text(node_field::input, name);
    proto.text(node_field::output, node.output).text(node_field::name, node.output);
    proto.text(node_field::op_type, node.operation);
    for (const OnnxAttribute& entry : node.attributes) proto.message(node_field::attribute, make_attribute(entry));
    body.message(graph::node, proto);
  }
  body.text(graph::name, "lockstep");
  for (const auto& [name, constant] : constants_) body.message(graph::initializer, constant);
  body.message(graph::input, value_info(kInput, input)).message(graph::output, value_info(kOutput, output));

  ProtobufMessage file;
  file.integer(model::ir_version, kIrVersion);
  file.text(model::producer_name, "lockstep").text(model::producer_version, version());
  file.message(model::graph, body);
  file.message(model::opset_import, ProtobufMessage().text(1, "").integer(2, kOpset));
  for (const auto& [key, value] : metadata_)
    file.message(model::metadata_props, ProtobufMessage().text(1, key).text(2, value));
  if (file.data().size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw Error(ErrorCode::usage, "an ONNX file holds at most 2 GB and this network needs more; export .safetensors");
  return file.data();
}

}  // namespace lockstep
