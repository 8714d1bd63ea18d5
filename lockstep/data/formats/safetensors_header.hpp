#pragma once
// The header of a safetensors file; lockstep/data/formats/safetensors.hpp describes its format.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/array.hpp"

namespace lockstep {

/// Before the header stands its length.
inline constexpr std::int64_t kSafetensorsLengthBytes = 8;
inline constexpr const char* kSafetensorsMetadataKey = "__metadata__";

/// Free text about the file: string to string.
using SafetensorsMetadata = std::map<std::string, std::string>;

struct SafetensorsEntry {
  std::string name;
  ElementType type = ElementType::float32;
  std::vector<std::int64_t> dims;
  std::int64_t offset = 0;  // in the file
  std::int64_t bytes = 0;   // product of dims times the element size
};

struct SafetensorsHeader {
  SafetensorsMetadata metadata;
  std::vector<SafetensorsEntry> tensors;  // in the order of their data
};

/// The length that the first 8 bytes of a file give, checked against file_size.
std::int64_t safetensors_header_bytes(std::span<const std::byte> bytes, std::int64_t file_size, std::string_view name);

/// `bytes` may be just the beginning of a file of file_size bytes, as long as it holds the whole header.
SafetensorsHeader parse_safetensors_header(std::span<const std::byte> bytes, std::int64_t file_size,
                                           std::string_view name);

/// "F32", "U8", ...
std::string_view safetensors_type(ElementType type);

}  // namespace lockstep
