#pragma once
// safetensors, the format of weights: the header's length (64 bit, little-endian), the header in JSON
//   {"__metadata__": {"key": "value"}, "0.weight": {"dtype": "F32", "shape": [6,1,5,5], "data_offsets": [0, 600]}, ...}
// with offsets counted from its end, then the elements of all tensors, little-endian, row-major.
//
// Read strictly: tensors fill the data exactly, without holes or overlaps; nothing is said twice; unknown keys and
// element types without a place in ElementType (F16, BF16, BOOL, ...) are refused. Every size is checked against the
// file's length before memory is taken for it.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/array.hpp"
#include "lockstep/data/formats/safetensors_header.hpp"

namespace lockstep {

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
/// is "__metadata__" or is not UTF-8, or when an array's bytes do not fit its dims.
std::vector<std::byte> write_safetensors(const Safetensors& contents);

}  // namespace lockstep
