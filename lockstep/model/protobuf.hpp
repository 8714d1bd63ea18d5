#pragma once
// Just enough of the protobuf wire format to write ONNX: a message is a sequence of fields, each a key
// (number << 3 | wire type, as a varint) and a value.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace lockstep {

/// Builds one message. Fields appear in the order of the calls; a repeated field is written once per element.
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

}  // namespace lockstep
