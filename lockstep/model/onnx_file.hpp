#pragma once
// An ONNX file as it is: nodes, constants, inputs, outputs, metadata. onnx_import.hpp makes a network of it.
// The reader of the protobuf wire format behind it is strict and does not recurse: messages are nested as onnx.proto
// says, at most six deep. Graphs within nodes (If, Loop) are skipped; their operators are not supported anyway.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/array.hpp"

namespace lockstep {

/// Values of TensorProto.DataType.
enum : std::int64_t { onnx_float = 1, onnx_int32 = 6, onnx_int64 = 7, onnx_double = 11 };

/// Error(data).
[[noreturn]] void fail_onnx(const std::string& what);

/// A constant. Element types other than float, double, int32 and int64 have no array: `type` names them.
struct OnnxTensor {
  std::string name{};
  std::vector<std::int64_t> dims{};
  std::int64_t type = 0;  // TensorProto.DataType
  Array array{};
  std::vector<std::string> strings{};
  bool readable() const {
    return type == onnx_float || type == onnx_int32 || type == onnx_int64 || type == onnx_double;
  }
};

struct OnnxNodeAttribute {
  std::optional<std::int64_t> i{};
  std::optional<double> f{};
  std::string s{};
  std::vector<std::int64_t> ints{};
  std::vector<double> floats{};
  std::vector<std::string> strings{};
  std::optional<OnnxTensor> tensor{};
};

struct OnnxNode {
  std::string operation{}, domain{}, name{};
  std::vector<std::string> inputs{}, outputs{};
  std::map<std::string, OnnxNodeAttribute> attributes{};
};

/// An input or output: its extents, -1 where they are free.
struct OnnxValue {
  std::string name{};
  std::int64_t type = 0;  // TensorProto.DataType; 0: unknown
  std::vector<std::int64_t> dims{};
};

struct OnnxFile {
  std::int64_t opset = 0;  // of the standard operators
  std::string producer{};
  std::vector<OnnxNode> nodes{};
  std::map<std::string, OnnxTensor> constants{};  // initializers
  std::vector<OnnxValue> inputs{}, outputs{};
  std::map<std::string, std::string> metadata{};
};

/// Error(data), "<name>: ...", for what is no ONNX file, or has its weights elsewhere.
OnnxFile parse_onnx(std::span<const std::byte> bytes, std::string_view name);
OnnxFile read_onnx(const std::filesystem::path& path);

}  // namespace lockstep
