#include "lockstep/data/formats/idx.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/checked.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/file.hpp"
#include "lockstep/data/formats/inflate.hpp"

namespace lockstep {
namespace {

struct IdxType {
  std::uint8_t code;
  ElementType type;
};
constexpr std::array<IdxType, 6> kIdxTypes{{{0x08, ElementType::uint8},
                                            {0x09, ElementType::int8},
                                            {0x0B, ElementType::int16},
                                            {0x0C, ElementType::int32},
                                            {0x0D, ElementType::float32},
                                            {0x0E, ElementType::float64}}};

Array parse_plain(std::span<const std::byte> bytes, std::string_view name) {
  const ArrayHeader header = parse_idx_header(bytes, name);
  return read_elements(bytes, header, fmt::format("its sizes [{}] need", fmt::join(header.dims, ",")), name);
}

Array parse_gzip(std::span<const std::byte> bytes, std::string_view name) {
  Inflater stream(bytes, Deflate::gzip, name);
  std::vector<std::byte> head = stream.read_exactly(4, "the magic number");
  const auto rank = std::to_integer<std::int64_t>(head[3]);
  const std::vector<std::byte> sizes = stream.read_exactly(4 * rank, "the sizes");
  head.insert(head.end(), sizes.begin(), sizes.end());
  const ArrayHeader header = parse_idx_header(head, name);
  Array array{header.type, header.dims, stream.read_exactly(header.data_bytes, "the array")};
  stream.expect_end();
  to_native_order(array.bytes, element_size(array.type), header.order);
  return array;
}

}  // namespace

ArrayHeader parse_idx_header(std::span<const std::byte> bytes, std::string_view name) {
  ByteReader reader(bytes, name, std::endian::big);
  const auto magic = reader.take(4, "the magic number");
  if (magic[0] != std::byte{0} || magic[1] != std::byte{0})
    fail_data(name, 0, "not an IDX file: it begins with two zero bytes (or is gzip-compressed)");
  ArrayHeader header;
  header.order = std::endian::big;
  const auto code = std::to_integer<std::uint8_t>(magic[2]);
  const auto* const found = std::ranges::find(kIdxTypes, code, &IdxType::code);
  if (found == kIdxTypes.end()) fail_data(name, 2, fmt::format("unknown IDX element type 0x{:02x}", code));
  header.type = found->type;
  const auto rank = std::to_integer<int>(magic[3]);
  if (rank == 0) fail_data(name, 3, "IDX rank 0, at least one dimension was expected");
  for (int axis = 0; axis < rank; ++axis) header.dims.push_back(reader.u32("the sizes"));
  header.data_offset = reader.offset();
  const auto size = checked_product_of(header.dims, element_size(header.type));
  if (!size) fail_data(name, 4, fmt::format("the sizes [{}] overflow", fmt::join(header.dims, ",")));
  header.data_bytes = *size;
  return header;
}

Array parse_idx(std::span<const std::byte> bytes, std::string_view name) {
  return is_gzip(bytes) ? parse_gzip(bytes, name) : parse_plain(bytes, name);
}

Array read_idx(const std::filesystem::path& path) { return parse_idx(read_data_file(path), path.string()); }

std::vector<std::byte> write_idx(const Array& array) {
  const auto* const found = std::ranges::find(kIdxTypes, array.type, &IdxType::type);
  const bool sizes_fit = std::all_of(array.dims.begin(), array.dims.end(),
                                     [](std::int64_t extent) { return std::in_range<std::uint32_t>(extent); });
  if (found == kIdxTypes.end() || array.rank() < 1 || array.rank() > 255 || !sizes_fit) {
    throw Error(ErrorCode::bug, fmt::format("write_idx: IDX cannot hold {}", array.describe()));
  }
  std::vector<std::byte> out{std::byte{0}, std::byte{0}, std::byte{found->code},
                             std::byte{static_cast<std::uint8_t>(array.rank())}};
  for (const std::int64_t extent : array.dims) append_number(out, static_cast<std::uint32_t>(extent), std::endian::big);
  append_elements(out, array, std::endian::big);
  return out;
}

}  // namespace lockstep
