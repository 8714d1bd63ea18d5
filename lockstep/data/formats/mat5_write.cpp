#include <algorithm>
#include <cctype>
#include <limits>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/formats/mat5.hpp"

namespace lockstep {
namespace {

constexpr std::uint32_t kInt8 = 1, kInt32 = 5, kUint32 = 6, kDouble = 9, kMatrixElement = 14;
constexpr std::uint32_t kDoubleClass = 6;

bool is_matlab_name(std::string_view name) {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  return !name.empty() && name.size() <= 63 && letter(name.front()) && std::all_of(name.begin(), name.end(), part);
}

void append_element(std::vector<std::byte>& out, std::uint32_t type, std::span<const std::byte> bytes) {
  append_number(out, type);
  append_number(out, static_cast<std::uint32_t>(bytes.size()));
  out.insert(out.end(), bytes.begin(), bytes.end());
  while (out.size() % 8 != 0) out.push_back(std::byte{0});
}

/// The elements as little-endian doubles, first index fastest.
std::vector<std::byte> column_major_doubles(const Array& array, const std::vector<std::int64_t>& dims) {
  // A row-major array is the column-major array of the reversed dimensions, so the same routine turns it round.
  std::vector<std::byte> doubles;
  doubles.reserve(static_cast<std::size_t>(array.elements()) * 8);
  for (std::int64_t i = 0; i < array.elements(); ++i) append_number(doubles, array.value(i));
  const std::vector<std::int64_t> reversed(dims.rbegin(), dims.rend());
  return column_to_row_major(std::move(doubles), reversed, 8);
}

std::vector<std::byte> matrix_body(const NamedArray& entry) {
  std::vector<std::int64_t> dims = entry.array.dims;
  while (dims.size() < 2) dims.push_back(1);
  std::vector<std::byte> flags, extents, body;
  append_number(flags, kDoubleClass);
  append_number<std::uint32_t>(flags, 0);
  for (const std::int64_t extent : dims) append_number(extents, static_cast<std::int32_t>(extent));
  append_element(body, kUint32, flags);
  append_element(body, kInt32, extents);
  append_element(body, kInt8, std::as_bytes(std::span(entry.name)));
  append_element(body, kDouble, column_major_doubles(entry.array, dims));
  return body;
}

}  // namespace

std::vector<std::byte> write_mat5(std::span<const NamedArray> arrays) {
  std::string text = "MATLAB 5.0 MAT-file, written by Lockstep";
  text.resize(124, ' ');
  std::fill(text.begin() + 116, text.end(), '\0');  // no subsystem data
  std::vector<std::byte> out;
  append_text(out, text);
  append_number<std::uint16_t>(out, 0x0100);
  append_text(out, "IM");
  for (const NamedArray& entry : arrays) {
    if (!is_matlab_name(entry.name)) {
      throw Error(ExitCode::usage, fmt::format("write_mat5: \"{}\" is no MATLAB name", entry.name));
    }
    const std::int64_t limit = std::numeric_limits<std::uint32_t>::max() - 65536;
    if (entry.array.elements() > limit / 8 || entry.array.rank() > 32) {
      throw Error(ExitCode::resources, fmt::format("write_mat5: {} is too large for a level 5 file", entry.name));
    }
    append_element(out, kMatrixElement, matrix_body(entry));
  }
  return out;
}

}  // namespace lockstep
