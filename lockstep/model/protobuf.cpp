#include "lockstep/model/protobuf.hpp"

#include <bit>

namespace lockstep {
namespace {

constexpr int kVarint = 0, kLengthDelimited = 2, kFixed32 = 5;  // types of fields

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

}  // namespace lockstep
