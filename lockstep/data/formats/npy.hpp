#pragma once
// NumPy's .npy, versions 1 to 3: "\x93NUMPY", version, header length, a Python dictionary literal
// {'descr': '<f4', 'fortran_order': False, 'shape': (60000, 28, 28), }, then the elements.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/array.hpp"

namespace lockstep {

/// The header; `bytes` may be just the beginning of the file (kNpyHeaderLimit bytes are always enough).
/// Booleans are uint8. Complex, text, object and structured types are Error(data).
ArrayHeader parse_npy_header(std::span<const std::byte> bytes, std::string_view name);
inline constexpr std::int64_t kNpyHeaderLimit = 12 + 65536;

/// A whole file: row-major and in native byte order whatever the file says. Bytes behind the array are an error.
Array parse_npy(std::span<const std::byte> bytes, std::string_view name);
Array read_npy(const std::filesystem::path& path);

/// An array of words (types U and S), row-major, in UTF-8, without the zeros that fill them up. Words of type S that
/// are no UTF-8 are taken as Latin-1.
struct NpyText {
  std::vector<std::int64_t> dims;
  std::vector<std::string> words;
};
/// Nothing when the file holds numbers; Error(data) for one that is neither.
std::optional<NpyText> parse_npy_text(std::span<const std::byte> bytes, std::string_view name);

/// Version 1, C order, little-endian; the elements begin at a multiple of 64 bytes.
std::vector<std::byte> write_npy(const Array& array);

}  // namespace lockstep
