#pragma once
// IDX, the format of MNIST: 0, 0, type, rank, then rank sizes (32 bit, big-endian), then the elements (big-endian,
// last index fastest). Plain, or as a whole gzip-compressed.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "lockstep/data/array.hpp"

namespace lockstep {

/// The header of an uncompressed IDX file; `bytes` may be just the beginning of the file.
ArrayHeader parse_idx_header(std::span<const std::byte> bytes, std::string_view name);

/// A whole file; gzip is recognised by its first two bytes.
Array parse_idx(std::span<const std::byte> bytes, std::string_view name);
Array read_idx(const std::filesystem::path& path);

/// Types IDX lacks (uint16, uint32, the 64-bit integers), ranks outside 1..255 and sizes of more than 32 bits are
/// Error(bug).
std::vector<std::byte> write_idx(const Array& array);

}  // namespace lockstep
