#include "lockstep/data/bytes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep {
namespace {

template <std::size_t Size>
void copy_transposed(const std::byte* in, std::byte* out, std::int64_t rows, std::int64_t cols) {
  // Square blocks keep both the strided reads and the contiguous writes in the first-level cache.
  constexpr std::int64_t kBlock = 32;
  for (std::int64_t r0 = 0; r0 < rows; r0 += kBlock) {
    for (std::int64_t c0 = 0; c0 < cols; c0 += kBlock) {
      const std::int64_t r1 = std::min(rows, r0 + kBlock), c1 = std::min(cols, c0 + kBlock);
      for (std::int64_t r = r0; r < r1; ++r) {
        for (std::int64_t c = c0; c < c1; ++c)
          std::memcpy(out + (r * cols + c) * static_cast<std::int64_t>(Size),
                      in + (c * rows + r) * static_cast<std::int64_t>(Size), Size);
      }
    }
  }
}

}  // namespace

void copy_transposed(const std::byte* in, std::byte* out, std::int64_t rows, std::int64_t cols,
                     std::int64_t element_size) {
  switch (element_size) {
    case 1:
      return copy_transposed<1>(in, out, rows, cols);
    case 2:
      return copy_transposed<2>(in, out, rows, cols);
    case 4:
      return copy_transposed<4>(in, out, rows, cols);
    default:
      return copy_transposed<8>(in, out, rows, cols);
  }
}

void fail_data(std::string_view name, std::int64_t offset, std::string_view what) {
  throw Error(ErrorCode::data, fmt::format("{}: byte {}: {}", name, offset, what));
}

std::string printable(std::string_view text) {
  constexpr std::size_t kMaxLength = 80;
  std::string out;
  for (const char c : text.substr(0, kMaxLength)) {
    const auto code = static_cast<unsigned char>(c);
    out += code >= 0x20 && code < 0x7F ? std::string(1, c) : fmt::format("\\x{:02x}", code);
  }
  return text.size() > kMaxLength ? out + "..." : out;
}

std::string printable_list(std::span<const std::string_view> names) {
  constexpr std::size_t kMost = 20;
  std::string out;
  for (const std::string_view name : names.first(std::min(kMost, names.size()))) {
    if (!out.empty()) out += ", ";
    out += printable(name);
  }
  return names.size() > kMost ? fmt::format("{} and {} more", out, names.size() - kMost) : out;
}

void sort_words(std::vector<std::string>& words) {
  const bool numeric = std::all_of(words.begin(), words.end(),
                                   [](const std::string& word) { return parse_number<double>(word).has_value(); });
  std::sort(words.begin(), words.end(), [&](const std::string& a, const std::string& b) {
    if (!numeric) return a < b;
    const double x = *parse_number<double>(a), y = *parse_number<double>(b);
    return x != y ? x < y : a < b;
  });
}

void to_native_order(std::span<std::byte> bytes, std::int64_t element_size, std::endian order) {
  if (order == std::endian::native || element_size == 1) return;
  const auto size = static_cast<std::size_t>(element_size);
  for (std::size_t i = 0; i + size <= bytes.size(); i += size)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i), bytes.begin() + static_cast<std::ptrdiff_t>(i + size));
}

std::vector<std::byte> column_to_row_major(std::vector<std::byte> bytes, std::span<const std::int64_t> dims,
                                           std::int64_t element_size) {
  if (bytes.empty()) return bytes;
  std::vector<std::byte> turned(bytes.size());
  // Peel one axis at a time: with the first axes already in place, each of their `outer` positions holds the
  // remaining ones with the next axis fastest: a matrix [rest][extent] that becomes [extent][rest].
  std::int64_t outer = 1, rest = static_cast<std::int64_t>(bytes.size()) / element_size;
  for (const std::int64_t extent : dims) {
    if (extent == 1) continue;
    if (extent == rest) break;
    const std::int64_t block = rest * element_size;
    rest /= extent;
    for (std::int64_t i = 0; i < outer; ++i)
      copy_transposed(bytes.data() + i * block, turned.data() + i * block, extent, rest, element_size);
    outer *= extent;
    bytes.swap(turned);
  }
  return bytes;
}

Array read_elements(std::span<const std::byte> bytes, const ArrayHeader& header, std::string_view claim,
                    std::string_view name) {
  const auto data = bytes.subspan(static_cast<std::size_t>(header.data_offset));
  if (static_cast<std::int64_t>(data.size()) != header.data_bytes)
    fail_data(name, header.data_offset,
              fmt::format("{} bytes of data follow the header, {} {}", data.size(), claim, header.data_bytes));
  Array array{header.type, header.dims, {data.begin(), data.end()}};
  const std::int64_t size = element_size(array.type);
  if (header.column_major) array.bytes = column_to_row_major(std::move(array.bytes), array.dims, size);
  to_native_order(array.bytes, size, header.order);
  return array;
}

std::span<const std::byte> ByteReader::take(std::int64_t count, std::string_view what) {
  if (count < 0 || count > remaining())
    fail(fmt::format("the file ends inside {}: {} bytes wanted, {} left", what, count, remaining()));
  const auto taken = bytes_.subspan(static_cast<std::size_t>(offset_), static_cast<std::size_t>(count));
  offset_ += count;
  return taken;
}

void append_text(std::vector<std::byte>& out, std::string_view text) {
  const auto raw = std::as_bytes(std::span(text));
  out.insert(out.end(), raw.begin(), raw.end());
}

void append_elements(std::vector<std::byte>& out, const Array& array, std::endian order) {
  const std::size_t before = out.size();
  out.insert(out.end(), array.bytes.begin(), array.bytes.end());
  to_native_order(std::span(out).subspan(before), element_size(array.type), order);
}

bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

}  // namespace lockstep
