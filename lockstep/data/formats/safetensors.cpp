#include "lockstep/data/formats/safetensors.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/checked.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/file.hpp"

namespace lockstep {

namespace {

/// Before the header stands its length.
constexpr std::int64_t kSafetensorsLengthBytes = 8;
constexpr const char* kSafetensorsMetadataKey = "__metadata__";

/// The limit of the reference implementation.
constexpr std::int64_t kMaxHeaderBytes = 100'000'000;
constexpr std::size_t kMaxTensorRank = 64;

using TypeName = std::pair<std::string_view, ElementType>;
constexpr std::array<TypeName, 10> kTypes{{{"F32", ElementType::float32},
                                           {"F64", ElementType::float64},
                                           {"U8", ElementType::uint8},
                                           {"I8", ElementType::int8},
                                           {"U16", ElementType::uint16},
                                           {"I16", ElementType::int16},
                                           {"U32", ElementType::uint32},
                                           {"I32", ElementType::int32},
                                           {"U64", ElementType::uint64},
                                           {"I64", ElementType::int64}}};

std::string in_quotes(std::string_view text) { return fmt::format("\"{}\"", printable(text)); }

/// Walks over the header's text and counts, so that errors of meaning have a place too.
struct Cursor {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  std::int64_t* taken;

  reference operator*() const { return *at; }
  Cursor& operator++() {
    ++at;
    ++*taken;
    return *this;
  }
  Cursor operator++(int) {
    const Cursor before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const Cursor& a, const Cursor& b) { return a.at == b.at; }
};

/// Receives the header's JSON piece by piece and accepts only what the format allows at each place; a tree of it is
/// never built, so depth and duplicates cannot do harm.
class HeaderReader {
 public:
  HeaderReader(std::string_view name, std::int64_t data_bytes) : file_(name), data_bytes_(data_bytes) {}

  SafetensorsHeader read(std::string_view text) {
    if (text.empty() || text.front() != '{') fail("the header must begin with {");
    nlohmann::json::sax_parse(Cursor{text.data(), &taken_}, Cursor{text.data() + text.size(), &taken_}, this);
    return std::move(header_);
  }

  // What nlohmann calls; false would end the parse, so everything wrong throws.
  bool start_object(std::size_t) {
    if (place_ == Place::before)
      place_ = Place::top;
    else if (place_ == Place::top)
      start_member();
    else
      fail("an object was not expected");
    return true;
  }

  bool end_object() {
    if (place_ == Place::tensor) finish_tensor();
    place_ = place_ == Place::top ? Place::after : Place::top;
    return true;
  }

  bool key(std::string& text) {
    const bool fresh = place_ == Place::top ? names_.insert(text).second : keys_.insert(text).second;
    if (!fresh) fail(fmt::format("{} stands there twice", in_quotes(text)));
    key_ = text;
    return true;
  }

  bool string(std::string& text) {
    if (place_ == Place::metadata) {
      header_.metadata[key_] = text;
      return true;
    }
    if (place_ != Place::tensor || key_ != "dtype") fail("a string was not expected");
    const auto* type = std::ranges::find(kTypes, text, &TypeName::first);
    if (type == kTypes.end())
      fail(fmt::format("{} has the element type {}; F32, F64 and integers are read, convert it to one of them",
                       in_quotes(tensor_.name), in_quotes(text)));
    tensor_.type = type->second;
    return true;
  }

  bool start_array(std::size_t) {
    if (place_ != Place::tensor || (key_ != "shape" && key_ != "data_offsets")) fail("an array was not expected");
    place_ = Place::numbers;
    numbers_.clear();
    return true;
  }

  bool end_array() {
    place_ = Place::tensor;
    if (key_ == "shape") {
      tensor_.dims = numbers_;
    } else {
      if (numbers_.size() != 2) fail(fmt::format("data_offsets of {} are not two numbers", in_quotes(tensor_.name)));
      offsets_ = {numbers_[0], numbers_[1]};
    }
    return true;
  }

  bool number_unsigned(std::uint64_t number) {
    if (place_ != Place::numbers) fail("a number was not expected");
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) fail("the number is too large");
    if (numbers_.size() == kMaxTensorRank) fail(fmt::format("more than {} numbers in a list", kMaxTensorRank));
    numbers_.push_back(static_cast<std::int64_t>(number));
    return true;
  }

  bool number_integer(std::int64_t) { fail("a number is negative"); }
  bool number_float(double, const std::string&) { fail("a number is not an integer, or too large"); }
  bool boolean(bool) { fail("true or false were not expected"); }
  bool null() { fail("null was not expected"); }
  bool binary(std::vector<std::uint8_t>&) { fail("binary data were not expected"); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) {
    fail("the header is not JSON here");
  }

 private:
  enum class Place { before, top, metadata, tensor, numbers, after };

  /// The place is the last character read: the end of the word that is wrong, or the character behind a number.
  [[noreturn]] void fail(std::string_view what) const {
    fail_data(file_, kSafetensorsLengthBytes + std::max<std::int64_t>(taken_ - 1, 0), what);
  }

  void start_member() {
    keys_.clear();
    place_ = key_ == kSafetensorsMetadataKey ? Place::metadata : Place::tensor;
    tensor_ = SafetensorsEntry();
    tensor_.name = key_;
    offsets_.reset();
  }

  void finish_tensor() {
    const std::string shown = in_quotes(tensor_.name);
    if (keys_.size() != 3 || !keys_.contains("dtype") || !keys_.contains("shape") || !offsets_)
      fail(fmt::format("{} needs dtype, shape and data_offsets and nothing else", shown));
    const auto wanted = checked_product_of(tensor_.dims, element_size(tensor_.type));
    if (!wanted) fail(fmt::format("the shape [{}] of {} is too large", fmt::join(tensor_.dims, ","), shown));
    const auto [begin, end] = *offsets_;
    if (begin > end || end > data_bytes_)
      fail(fmt::format("{} lies at [{}, {}], but there are {} bytes of data", shown, begin, end, data_bytes_));
    if (end - begin != *wanted)
      fail(fmt::format("{} of shape [{}] needs {} bytes, its data_offsets give it {}", shown,
                       fmt::join(tensor_.dims, ","), *wanted, end - begin));
    tensor_.offset = begin;
    tensor_.bytes = *wanted;
    header_.tensors.push_back(std::move(tensor_));
  }

  std::string_view file_;
  std::int64_t data_bytes_;
  std::int64_t taken_ = 0;  // characters of the header read so far
  SafetensorsHeader header_;
  Place place_ = Place::before;
  std::string key_;
  std::set<std::string> names_, keys_;  // of the whole header; of the member being read
  SafetensorsEntry tensor_;
  std::optional<std::pair<std::int64_t, std::int64_t>> offsets_;
  std::vector<std::int64_t> numbers_;
};

/// Sorts the tensors by their data, makes offsets count from the beginning of the file, refuses holes and overlaps.
void place_tensors(std::vector<SafetensorsEntry>& tensors, std::int64_t data_offset, std::int64_t file_size,
                   std::string_view name) {
  std::sort(tensors.begin(), tensors.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::tie(a.offset, a.bytes, a.name) < std::tie(b.offset, b.bytes, b.name);
  });
  std::int64_t end = data_offset;
  for (SafetensorsEntry& tensor : tensors) {
    tensor.offset += data_offset;
    if (tensor.offset < end)
      fail_data(name, tensor.offset, fmt::format("{} overlaps the tensor before it", in_quotes(tensor.name)));
    if (tensor.offset > end)
      fail_data(name, end,
                fmt::format("{} bytes before {} belong to no tensor", tensor.offset - end, in_quotes(tensor.name)));
    end += tensor.bytes;
  }
  if (end != file_size) fail_data(name, end, fmt::format("{} bytes at the end belong to no tensor", file_size - end));
}

}  // namespace

std::int64_t safetensors_header_bytes(std::span<const std::byte> bytes, std::int64_t file_size, std::string_view name) {
  ByteReader reader(bytes, name);
  const auto length = reader.number<std::uint64_t>("the header's length");
  if (length > static_cast<std::uint64_t>(kMaxHeaderBytes))
    fail_data(
        name, 0,
        fmt::format("the header's length is {}, at most {} are read: no safetensors file?", length, kMaxHeaderBytes));
  if (static_cast<std::int64_t>(length) > file_size - kSafetensorsLengthBytes)
    fail_data(name, 0,
              fmt::format("the header's length is {}, but only {} bytes follow: the file is cut off or no "
                          "safetensors file",
                          length, file_size - kSafetensorsLengthBytes));
  return static_cast<std::int64_t>(length);
}

namespace {

template <class Fill>
Safetensors load_tensors(SafetensorsHeader header, const Fill& fill) {
  Safetensors contents{.metadata = std::move(header.metadata), .tensors = {}};
  for (SafetensorsEntry& entry : header.tensors) {
    Array array{entry.type, std::move(entry.dims), std::vector<std::byte>(static_cast<std::size_t>(entry.bytes))};
    fill(entry.offset, array.bytes);
    to_native_order(array.bytes, element_size(entry.type), std::endian::little);
    contents.tensors.push_back({std::move(entry.name), std::move(array)});
  }
  return contents;
}

SafetensorsHeader header_of(const File& file) {
  std::vector<std::byte> head(static_cast<std::size_t>(std::min(kSafetensorsLengthBytes, file.size())));
  file.read_at(0, head);
  const std::int64_t length = safetensors_header_bytes(head, file.size(), file.name());
  head.resize(static_cast<std::size_t>(kSafetensorsLengthBytes + length));
  file.read_at(0, head);
  return parse_safetensors_header(head, file.size(), file.name());
}

std::string header_text(const Safetensors& contents) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!contents.metadata.empty()) header[kSafetensorsMetadataKey] = contents.metadata;
  std::set<std::string> names{kSafetensorsMetadataKey};
  std::int64_t offset = 0;
  for (const NamedArray& tensor : contents.tensors) {
    const Array& array = tensor.array;
    const auto size = static_cast<std::int64_t>(array.bytes.size());
    if (checked_product_of(array.dims, element_size(array.type)) != size)
      throw Error(ErrorCode::bug, fmt::format("safetensors: {} holds {} bytes", printable(tensor.name), size));
    if (!names.insert(tensor.name).second)
      throw Error(ErrorCode::bug, fmt::format("safetensors: the name {} is taken", printable(tensor.name)));
    nlohmann::ordered_json entry{{"dtype", std::ranges::find(kTypes, array.type, &TypeName::second)->first},
                                 {"shape", array.dims},
                                 {"data_offsets", {offset, offset + size}}};
    // The names are known to differ; looking each up in an ordered object would take a time quadratic in their number.
    header.get_ref<nlohmann::ordered_json::object_t&>().emplace_back(tensor.name, std::move(entry));
    offset += size;
  }
  try {
    return header.dump();
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::bug, "safetensors: a name or a text of the metadata is not UTF-8");
  }
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::span<const std::byte> bytes, std::int64_t file_size,
                                           std::string_view name) {
  const std::int64_t length = safetensors_header_bytes(bytes, file_size, name);
  ByteReader reader(bytes, name);
  reader.take(kSafetensorsLengthBytes, "the header's length");
  const auto text = reader.take(length, "the header");
  const std::int64_t data_offset = reader.offset();
  HeaderReader json(name, file_size - data_offset);
  SafetensorsHeader header =
      json.read({reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(text.size())});
  place_tensors(header.tensors, data_offset, file_size, name);
  return header;
}

Safetensors parse_safetensors(std::span<const std::byte> bytes, std::string_view name) {
  return load_tensors(parse_safetensors_header(bytes, static_cast<std::int64_t>(bytes.size()), name),
                      [&](std::int64_t offset, std::span<std::byte> out) {
                        const auto from = bytes.subspan(static_cast<std::size_t>(offset), out.size());
                        std::copy(from.begin(), from.end(), out.begin());
                      });
}

SafetensorsHeader read_safetensors_header(const std::filesystem::path& path) { return header_of(File(path)); }

Safetensors read_safetensors(const std::filesystem::path& path) {
  const File file(path);
  return load_tensors(header_of(file),
                      [&](std::int64_t offset, std::span<std::byte> out) { file.read_at(offset, out); });
}

std::vector<std::byte> write_safetensors(Safetensors contents) {
  std::string text = header_text(contents);
  // The data then begin at a multiple of 8, so that a mapped file can be read in place.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::vector<std::byte> out;
  std::size_t total = static_cast<std::size_t>(kSafetensorsLengthBytes) + text.size();
  for (const NamedArray& tensor : contents.tensors) total += tensor.array.bytes.size();
  out.reserve(total);
  append_number(out, static_cast<std::uint64_t>(text.size()));
  append_text(out, text);
  for (NamedArray& tensor : contents.tensors) {
    append_elements(out, tensor.array, std::endian::little);
    tensor = {};
  }
  return out;
}

}  // namespace lockstep
