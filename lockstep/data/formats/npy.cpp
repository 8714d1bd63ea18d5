#include "lockstep/data/formats/npy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/checked.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/file.hpp"
#include "lockstep/data/formats/csv_lexer.hpp"

namespace lockstep {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxNumpyRank = 32;  // NumPy's own limit
constexpr std::int64_t kMaxWord = 65536;

/// The header of an array of numbers, or of words.
struct NpyHeader : ArrayHeader {
  char text = '\0';        // 'U': letters of four bytes, 'S': bytes; none: numbers
  std::int64_t width = 0;  // letters of a word
};

struct NpyType {
  std::string_view code;
  ElementType type;
};
constexpr std::array<NpyType, 11> kNpyTypes{{{"u1", ElementType::uint8},
                                             {"b1", ElementType::uint8},
                                             {"i1", ElementType::int8},
                                             {"u2", ElementType::uint16},
                                             {"i2", ElementType::int16},
                                             {"u4", ElementType::uint32},
                                             {"i4", ElementType::int32},
                                             {"u8", ElementType::uint64},
                                             {"i8", ElementType::int64},
                                             {"f4", ElementType::float32},
                                             {"f8", ElementType::float64}}};

/// Reads the dictionary literal: exactly the three keys, in any order, each with a value of its own kind.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::int64_t start, std::string_view name)
      : text_(text), start_(start), name_(name) {}

  NpyHeader parse() {
    expect('{');
    while (!accept('}')) {
      read_entry();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (at_ != text_.size()) fail("text behind the header's dictionary");
    if (!has_descr_ || !has_order_ || !has_shape_) fail("the header lacks one of 'descr', 'fortran_order' and 'shape'");
    return std::move(header_);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    fail_data(name_, start_ + static_cast<std::int64_t>(at_), what);
  }
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool accept(char wanted) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) fail(fmt::format("the header is no dictionary of NumPy's: '{}' expected", wanted));
  }
  bool accept_word(std::string_view word) {
    skip_spaces();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::string_view string() {
    skip_spaces();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote == '[') fail("structured arrays are not supported, save one plain array per file");
    if (quote != '\'' && quote != '"') fail("a quoted string was expected in the header");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a string in the header has no end");
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return value;
  }

  void once(bool& seen) {
    if (seen) fail("a key stands twice in the header");
    seen = true;
  }

  void read_entry() {
    const std::string_view key = string();
    expect(':');
    if (key == "descr") {
      once(has_descr_);
      read_descr();
    } else if (key == "fortran_order") {
      once(has_order_);
      header_.column_major = accept_word("True");
      if (!header_.column_major && !accept_word("False")) fail("fortran_order is neither True nor False");
    } else if (key == "shape") {
      once(has_shape_);
      read_shape();
    } else {
      fail("unknown key in the header, expected descr, fortran_order or shape");
    }
  }

  void read_descr() {
    const std::string_view descr = string();
    const char order = descr.empty() ? '\0' : descr.front();
    const auto* const found = std::ranges::find(kNpyTypes, descr.substr(descr.empty() ? 0 : 1), &NpyType::code);
    const bool single_byte = found != kNpyTypes.end() && element_size(found->type) == 1;
    if (descr.size() > 2 && (descr[1] == 'U' || descr[1] == 'S')) {
      const auto width = parse_number<std::int64_t>(descr.substr(2));
      if (!width || *width < 1 || *width > kMaxWord) fail("words of no length, or of more than 65536 letters");
      header_.text = descr[1];
      header_.width = *width;
      header_.order = order == '>' ? std::endian::big : std::endian::little;
      return;
    }
    const bool known_order = order == '<' || order == '>' || order == '=' || (order == '|' && single_byte);
    if (found == kNpyTypes.end() || !known_order)
      fail("unsupported element type, expected float32, float64, bool or an integer of 8 to 64 bits");
    header_.type = found->type;
    header_.order = order == '>' ? std::endian::big : (order == '<' ? std::endian::little : std::endian::native);
  }

  void read_shape() {
    expect('(');
    while (!accept(')')) {
      skip_spaces();
      std::int64_t extent = 0;
      const char* end = text_.data() + text_.size();
      const auto [next, error] = std::from_chars(text_.data() + at_, end, extent);
      if (error != std::errc{} || extent < 0) fail("shape holds something that is no size");
      at_ = static_cast<std::size_t>(next - text_.data());
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long integers so
      header_.dims.push_back(extent);
      if (header_.dims.size() > kMaxNumpyRank) fail("shape has more than 32 dimensions");
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }

  std::string_view text_;
  std::int64_t start_;
  std::string_view name_;
  std::size_t at_ = 0;
  NpyHeader header_;
  bool has_descr_ = false, has_order_ = false, has_shape_ = false;
};

NpyHeader parse_header(std::span<const std::byte> bytes, std::string_view name) {
  ByteReader reader(bytes, name);
  const auto magic = reader.take(6, "the magic string");
  if (!std::equal(magic.begin(), magic.end(), std::as_bytes(std::span(kMagic)).begin()))
    fail_data(name, 0, "not a .npy file: it begins with \\x93NUMPY");
  const auto version = reader.take(2, "the version");
  const int major = std::to_integer<int>(version[0]);
  if (major < 1 || major > 3) fail_data(name, 6, fmt::format("version {} of .npy is unknown, expected 1 to 3", major));
  const std::int64_t length = major == 1 ? reader.u16("the header length") : reader.u32("the header length");
  if (length > 65536) fail_data(name, 8, fmt::format("a header of {} bytes, at most 65536 are accepted", length));
  const std::int64_t start = reader.offset();
  const auto raw = reader.take(length, "the header");
  HeaderParser parser({reinterpret_cast<const char*>(raw.data()), raw.size()}, start, name);
  NpyHeader header = parser.parse();
  header.data_offset = reader.offset();
  const std::int64_t element =
      header.text == '\0' ? element_size(header.type) : header.width * (header.text == 'U' ? 4 : 1);
  const auto size = checked_product_of(header.dims, element);
  if (!size) fail_data(name, start, fmt::format("the shape ({}) overflows", fmt::join(header.dims, ",")));
  header.data_bytes = *size;
  return header;
}

/// A letter in UTF-8; false: it is none.
bool append_letter(std::string& out, std::uint32_t letter) {
  if (letter > 0x10FFFF || (letter >= 0xD800 && letter < 0xE000)) return false;
  if (letter < 0x80) {
    out.push_back(static_cast<char>(letter));
    return true;
  }
  const int more = letter < 0x800 ? 1 : letter < 0x10000 ? 2 : 3;
  constexpr std::array<unsigned, 4> kFirst = {0, 0xC0, 0xE0, 0xF0};
  out.push_back(static_cast<char>(kFirst[static_cast<std::size_t>(more)] | letter >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) out.push_back(static_cast<char>(0x80 | (letter >> (6 * i) & 0x3F)));
  return true;
}

std::string word_at(ByteReader& reader, const NpyHeader& header) {
  std::string word;
  if (header.text == 'S') {
    const auto raw = reader.take(header.width, "a word");
    word.assign(reinterpret_cast<const char*>(raw.data()), raw.size());
    while (!word.empty() && word.back() == '\0') word.pop_back();
    return utf8_of(word);
  }
  for (std::int64_t i = 0; i < header.width; ++i)
    if (!append_letter(word, reader.u32("a word"))) reader.fail("a word holds a number that is no letter");
  while (!word.empty() && word.back() == '\0') word.pop_back();
  return word;
}

}  // namespace

ArrayHeader parse_npy_header(std::span<const std::byte> bytes, std::string_view name) {
  NpyHeader header = parse_header(bytes, name);
  if (header.text != '\0')
    throw Error(ErrorCode::data, fmt::format("{}: the array holds words, numbers were expected", name));
  return header;
}

std::optional<NpyText> parse_npy_text(std::span<const std::byte> bytes, std::string_view name) {
  const NpyHeader header = parse_header(bytes, name);
  if (header.text == '\0') return std::nullopt;
  const std::int64_t there = static_cast<std::int64_t>(bytes.size()) - header.data_offset;
  if (there != header.data_bytes)
    fail_data(name, header.data_offset,
              fmt::format("{} bytes of words follow the header, its shape ({}) needs {}", there,
                          fmt::join(header.dims, ","), header.data_bytes));
  if (header.column_major && header.dims.size() > 1)
    fail_data(name, header.data_offset, "words in Fortran order; save them in C order");
  NpyText text{.dims = header.dims, .words = {}};
  ByteReader reader(bytes, name, header.order);
  reader.take(header.data_offset, "the header");
  while (reader.remaining() > 0) text.words.push_back(word_at(reader, header));
  return text;
}

Array parse_npy(std::span<const std::byte> bytes, std::string_view name) {
  const ArrayHeader header = parse_npy_header(bytes, name);
  return read_elements(bytes, header, fmt::format("its shape ({}) needs", fmt::join(header.dims, ",")), name);
}

Array read_npy(const std::filesystem::path& path) { return parse_npy(read_data_file(path), path.string()); }

std::vector<std::byte> write_npy(const Array& array) {
  const auto* const code = std::ranges::find(kNpyTypes, array.type, &NpyType::type);
  const char order = element_size(array.type) == 1 ? '|' : '<';
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}", order, code->code,
                                   fmt::join(array.dims, ", "), array.rank() == 1 ? "," : "");
  const std::size_t preamble = kMagic.size() + 4;
  while ((preamble + header.size() + 1) % 64 != 0) header.push_back(' ');
  header.push_back('\n');
  std::vector<std::byte> out;
  append_text(out, kMagic);
  out.push_back(std::byte{1});
  out.push_back(std::byte{0});
  append_number(out, static_cast<std::uint16_t>(header.size()));
  append_text(out, header);
  append_elements(out, array, std::endian::little);
  return out;
}

}  // namespace lockstep
