#pragma once
// safetensors, the format of weights: the header's length (64 bit, little-endian), the header in JSON
//   {"__metadata__": {"key": "value"}, "0.weight": {"dtype": "F32", "shape": [6,1,5,5], "data_offsets": [0, 600]}, ...}
// with offsets counted from its end, then the elements of all tensors, little-endian, row-major.
//
// Read strictly: tensors fill the data exactly, without holes or overlaps; nothing is said twice; unknown keys and
// element types without a place in ElementType (F16, BF16, BOOL, ...) are refused. Every size is checked against the
// file's length before memory is taken for it.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/array.hpp"

namespace lockstep {

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

/// The length of the header, which the first 8 bytes of a file give, checked against file_size.
std::int64_t safetensors_header_bytes(std::span<const std::byte> bytes, std::int64_t file_size, std::string_view name);

/// `bytes` may be just the beginning of a file of file_size bytes, as long as it holds the whole header.
SafetensorsHeader parse_safetensors_header(std::span<const std::byte> bytes, std::int64_t file_size,
                                           std::string_view name);

struct Safetensors {
  SafetensorsMetadata metadata;
  std::vector<NamedArray> tensors;  // in the order of their data
};

/// A whole file in memory.
Safetensors parse_safetensors(std::span<const std::byte> bytes, std::string_view name);

/// The header alone: what a file holds, whatever its size.
SafetensorsHeader read_safetensors_header(const std::filesystem::path& path);
Safetensors read_safetensors(const std::filesystem::path& path);

/// The bytes of a file: the same for the same contents. Tensors keep their order. Error(bug) when a name is used twice,
/// is "__metadata__" or is not UTF-8, or when an array's bytes do not fit its dims. Contents that are moved here are
/// freed tensor by tensor, so that a large file does not lie in memory twice.
std::vector<std::byte> write_safetensors(Safetensors contents);

}  // namespace lockstep
