#include "lockstep/data/formats/mat5.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
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

constexpr std::int64_t kFileHeader = 128;
constexpr std::uint32_t kMatrix = 14, kCompressed = 15;
constexpr std::int64_t kMaxName = 4096, kMaxRank = 32;

struct StorageType {
  std::uint32_t code;
  ElementType type;
};
constexpr std::array<StorageType, 10> kStorageTypes{{{1, ElementType::int8},
                                                     {2, ElementType::uint8},
                                                     {3, ElementType::int16},
                                                     {4, ElementType::uint16},
                                                     {5, ElementType::int32},
                                                     {6, ElementType::uint32},
                                                     {7, ElementType::float32},
                                                     {9, ElementType::float64},
                                                     {12, ElementType::int64},
                                                     {13, ElementType::uint64}}};

struct MatlabClass {
  std::uint8_t code;
  std::string_view name;
  std::optional<ElementType> type;
};
constexpr std::array<MatlabClass, 17> kClasses{{{1, "cell", {}},
                                                {2, "struct", {}},
                                                {3, "object", {}},
                                                {4, "char", {}},
                                                {5, "sparse", {}},
                                                {6, "double", ElementType::float64},
                                                {7, "single", ElementType::float32},
                                                {8, "int8", ElementType::int8},
                                                {9, "uint8", ElementType::uint8},
                                                {10, "int16", ElementType::int16},
                                                {11, "uint16", ElementType::uint16},
                                                {12, "int32", ElementType::int32},
                                                {13, "uint32", ElementType::uint32},
                                                {14, "int64", ElementType::int64},
                                                {15, "uint64", ElementType::uint64},
                                                {16, "function", {}},
                                                {17, "opaque", {}}}};

struct Tag {
  std::uint32_t type = 0;
  std::int64_t size = 0;
  bool small = false;  // type and size share one word, up to four data bytes follow in the next
};

/// The content of one variable, read from front to back, from the file or through the decompressor.
class VariableStream {
 public:
  VariableStream(std::span<const std::byte> bytes, std::int64_t offset, std::endian order, std::string_view name)
      : reader_(bytes, name, order), name_(name), offset_(offset), order_(order) {
    reader_.take(offset, "the file");
    Tag tag = read_tag(true);
    if (tag.type == kCompressed) {
      const std::int64_t start = reader_.offset();
      inflater_ =
          std::make_unique<Inflater>(reader_.take(tag.size, "a compressed variable"), Deflate::zlib, name, start);
      tag = read_tag(true);
    } else if (tag.size > reader_.remaining()) {
      fail(fmt::format("a variable of {} bytes, the file has {} left", tag.size, reader_.remaining()));
    }
    type_ = tag.type;
    left_ = tag.size;
  }

  [[noreturn]] void fail(std::string_view what) const { fail_data(name_, offset_, what); }

  /// The next bytes of the variable; memory is taken only for bytes that exist.
  std::vector<std::byte> take(std::int64_t count, std::string_view what) {
    if (count > left_) fail(fmt::format("the variable ends inside {}: {} bytes wanted, {} left", what, count, left_));
    left_ -= count;
    return raw(count, what);
  }

  /// One data element: its tag, its bytes (native order still to be made) and the padding behind them.
  std::vector<std::byte> element(Tag& tag, std::int64_t limit, std::string_view what) {
    left_ -= 4;
    tag = read_tag(false);
    if (!tag.small) left_ -= 4;
    if (left_ < 0) fail(fmt::format("the variable ends inside {}", what));
    if (tag.size > limit) fail(fmt::format("{} has {} bytes, at most {} were expected", what, tag.size, limit));
    const std::int64_t padded = tag.small ? 4 : (tag.size + 7) / 8 * 8;
    // Some writers leave out the padding of the last element.
    std::vector<std::byte> bytes = take(tag.size, what);
    take(std::min(padded - tag.size, left_), what);
    return bytes;
  }

  std::uint32_t type() const { return type_; }
  std::endian order() const { return order_; }

  void expect_end() {
    if (left_ != 0) fail(fmt::format("{} bytes behind the variable's data", left_));
    if (inflater_) inflater_->expect_end();
  }

 private:
  std::vector<std::byte> raw(std::int64_t count, std::string_view what) {
    if (inflater_) return inflater_->read_exactly(count, what);
    const auto bytes = reader_.take(count, what);
    return {bytes.begin(), bytes.end()};
  }
  std::uint32_t word() {
    std::uint32_t value = 0;
    const std::vector<std::byte> bytes = raw(4, "a tag");
    std::memcpy(&value, bytes.data(), 4);
    to_native_order(std::as_writable_bytes(std::span(&value, 1)), 4, order_);
    return value;
  }
  Tag read_tag(bool top_level) {
    const std::uint32_t first = word();
    if (!top_level && (first >> 16) != 0) {
      if ((first >> 16) > 4) fail(fmt::format("a small data element of {} bytes, at most 4 fit", first >> 16));
      return {first & 0xFFFF, first >> 16, true};
    }
    return {first, word(), false};
  }

  ByteReader reader_;
  std::string_view name_;
  std::int64_t offset_;
  std::endian order_;
  std::unique_ptr<Inflater> inflater_;
  std::uint32_t type_ = 0;
  std::int64_t left_ = 0;
};

template <class T>
std::vector<T> numbers_of(std::vector<std::byte> bytes, std::endian order) {
  to_native_order(bytes, sizeof(T), order);
  std::vector<T> numbers(bytes.size() / sizeof(T));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(T));
  return numbers;
}

struct MatrixHeader {
  Mat5Entry entry;
  std::optional<ElementType> type;
  std::int64_t elements = 0;
};

/// Array flags, dimensions and name: what stands before the data of every matrix.
MatrixHeader read_matrix_header(VariableStream& stream) {
  MatrixHeader header;
  Tag tag;
  const auto flags = numbers_of<std::uint32_t>(stream.element(tag, 8, "the array flags"), stream.order());
  if (tag.type != 6 || flags.size() != 2) stream.fail("a variable does not begin with its array flags");
  const std::uint32_t code = flags[0] & 0xFF;
  const bool complex = (flags[0] & 0x0800) != 0;
  const auto* const found = std::ranges::find(kClasses, code, &MatlabClass::code);
  if (found == kClasses.end()) stream.fail(fmt::format("unknown array class {}", code));
  header.entry.kind = complex ? fmt::format("complex {}", found->name) : std::string(found->name);
  header.entry.readable = found->type.has_value() && !complex;
  header.type = found->type;
  if (found->name == "opaque") return header;  // its header has no dimensions, and its name stands elsewhere

  const auto dims = numbers_of<std::int32_t>(stream.element(tag, 4 * kMaxRank, "the dimensions"), stream.order());
  if (tag.type != 5 || dims.size() < 2) stream.fail("a variable without dimensions");
  for (const std::int32_t extent : dims) {
    if (extent < 0) stream.fail(fmt::format("a negative dimension {}", extent));
    header.entry.dims.push_back(extent);
  }
  const auto bytes = checked_product_of(header.entry.dims, 8);
  if (!bytes) stream.fail(fmt::format("the dimensions [{}] overflow", fmt::join(header.entry.dims, ",")));
  header.elements = *bytes / 8;
  const auto name = stream.element(tag, kMaxName, "the name");
  if (tag.type != 1) stream.fail("a variable without a name");
  header.entry.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
  return header;
}

/// Stored numbers as elements of the array's class: MATLAB writes doubles that are small integers as integers.
template <class To, class From>
void convert(std::span<const std::byte> in, std::span<std::byte> out, const VariableStream& stream) {
  for (std::size_t i = 0; i < in.size() / sizeof(From); ++i) {
    From value{};
    std::memcpy(&value, in.data() + i * sizeof(From), sizeof(From));
    if constexpr (std::is_integral_v<To>) {
      bool fits = false;
      if constexpr (std::is_integral_v<From>) {
        fits = std::in_range<To>(value);
      } else {
        // The upper limit as a power of two is exact in any floating type; NaN fails both comparisons.
        const double upper = std::ldexp(1.0, std::numeric_limits<To>::digits);
        const double lower = std::is_signed_v<To> ? -upper : 0.0;
        fits = static_cast<double>(value) >= lower && static_cast<double>(value) < upper;
      }
      if (!fits) stream.fail(fmt::format("element {} does not fit the array's class", i));
    }
    const To converted = static_cast<To>(value);
    std::memcpy(out.data() + i * sizeof(To), &converted, sizeof(To));
  }
}

Array read_matrix(VariableStream& stream, const MatrixHeader& header) {
  Tag tag;
  std::vector<std::byte> data = stream.element(tag, 8 * header.elements, "the data");
  const auto* const stored = std::ranges::find(kStorageTypes, tag.type, &StorageType::code);
  if (stored == kStorageTypes.end()) stream.fail(fmt::format("data of unknown type {}", tag.type));
  const std::int64_t size = element_size(stored->type);
  if (static_cast<std::int64_t>(data.size()) != header.elements * size)
    stream.fail(fmt::format("{} bytes of {} data, the dimensions [{}] need {}", data.size(), to_string(stored->type),
                            fmt::join(header.entry.dims, ","), header.elements * size));
  stream.expect_end();
  to_native_order(data, size, stream.order());
  Array array{*header.type, header.entry.dims, {}};
  if (stored->type == array.type) {
    array.bytes = std::move(data);
  } else {
    array.bytes.resize(static_cast<std::size_t>(header.elements * element_size(array.type)));
    visit_element_type(array.type, [&](auto to) {
      visit_element_type(stored->type,
                         [&](auto from) { convert<decltype(to), decltype(from)>(data, array.bytes, stream); });
    });
  }
  array.bytes = column_to_row_major(std::move(array.bytes), array.dims, element_size(array.type));
  return array;
}

std::endian read_file_header(std::span<const std::byte> bytes, std::string_view name) {
  ByteReader reader(bytes, name);
  const auto text = reader.take(124, "the header");
  const std::uint16_t version = reader.u16("the version"), mark = reader.u16("the byte order mark");
  constexpr std::string_view kHdf5 = "MATLAB 7.3";
  const std::string_view head(reinterpret_cast<const char*>(text.data()), kHdf5.size());
  if (head == kHdf5) fail_data(name, 0, "a version 7.3 file (HDF5), save it with -v7 or -v6");
  if (mark != 0x4D49 && mark != 0x494D) fail_data(name, 126, "not a MATLAB level 5 file: no byte order mark IM or MI");
  // The mark reads "MI" in the order of the writer; the version beside it in the same order.
  const std::endian order = mark == 0x4D49 ? std::endian::little : std::endian::big;
  if ((order == std::endian::little ? version : static_cast<std::uint16_t>(version << 8 | version >> 8)) != 0x0100)
    fail_data(name, 124, fmt::format("version 0x{:04x}, expected 0x0100 (level 5)", version));
  return order;
}

// What write_mat5 writes.
constexpr std::uint32_t kInt8 = 1, kInt32 = 5, kUint32 = 6, kDouble = 9;
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

Mat5Reader::Mat5Reader(std::span<const std::byte> bytes, std::string_view name)
    : bytes_(bytes), name_(name), order_(read_file_header(bytes, name)) {
  ByteReader reader(bytes_, name_, order_);
  reader.take(kFileHeader, "the header");
  while (reader.remaining() > 0) {
    const std::int64_t offset = reader.offset();
    const std::uint32_t type = reader.u32("a tag"), size = reader.u32("a tag");
    if (type == kMatrix || type == kCompressed) {
      VariableStream stream(bytes_, offset, order_, name_);
      if (stream.type() != kMatrix) fail_data(name_, offset, "the compressed element is not an array");
      MatrixHeader header = read_matrix_header(stream);
      header.entry.offset = offset;
      // MATLAB keeps unnamed elements of its own in some files; they are listed and cannot be asked for.
      if (!header.entry.name.empty() && !index_.emplace(header.entry.name, entries_.size()).second)
        fail_data(name_, offset, "two variables have the same name");
      entries_.push_back(std::move(header.entry));
    } else {
      fail_data(name_, offset, fmt::format("an element of type {}, expected an array", type));
    }
    // Arrays are padded to 8 bytes, compressed elements are not.
    reader.take(type == kMatrix ? (std::int64_t{size} + 7) / 8 * 8 : std::int64_t{size}, "a variable");
  }
}

bool Mat5Reader::contains(std::string_view key) const { return index_.contains(key); }

Array Mat5Reader::read(std::string_view key) const {
  const auto found = index_.find(key);
  if (found != index_.end()) return read(entries_[found->second]);
  std::vector<std::string_view> names;
  for (const Mat5Entry& entry : entries_) names.push_back(entry.name);
  throw Error(ErrorCode::data,
              fmt::format("{}: no variable \"{}\", there are: {}", name_, printable(key), printable_list(names)));
}

Array Mat5Reader::read(const Mat5Entry& entry) const {
  if (!entry.readable)
    fail_data(
        name_, entry.offset,
        fmt::format("\"{}\" is a {} array, only real numeric arrays can be read", printable(entry.name), entry.kind));
  VariableStream stream(bytes_, entry.offset, order_, name_);
  const MatrixHeader header = read_matrix_header(stream);
  return read_matrix(stream, header);
}

std::vector<NamedArray> read_mat5(const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = read_data_file(path);
  const Mat5Reader reader(bytes, path.string());
  std::vector<NamedArray> arrays;
  for (const Mat5Entry& entry : reader.entries()) {
    if (entry.readable) arrays.push_back({entry.name, reader.read(entry)});
  }
  return arrays;
}

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
      throw Error(ErrorCode::usage, fmt::format("write_mat5: \"{}\" is no MATLAB name", entry.name));
    }
    const std::int64_t limit = std::numeric_limits<std::uint32_t>::max() - 65536;
    if (entry.array.elements() > limit / 8 || entry.array.rank() > 32) {
      throw Error(ErrorCode::resources, fmt::format("write_mat5: {} is too large for a level 5 file", entry.name));
    }
    append_element(out, kMatrix, matrix_body(entry));
  }
  return out;
}

}  // namespace lockstep
