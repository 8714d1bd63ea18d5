#pragma once
// What every file reader needs: errors with the place, numbers of either byte order, and reads that cannot
// leave the file. Readers parse memory (bytes, name); `name` is the path that messages begin with.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/array.hpp"

namespace lockstep {

/// Throws Error(data): "<name>: byte <offset>: <what>".
[[noreturn]] void fail_data(std::string_view name, std::int64_t offset, std::string_view what);

/// Text of a file made fit for a message: printable ASCII, the rest as \xNN, cut after 80 characters.
std::string printable(std::string_view text);

/// "a, b, c", made printable; of more than 20 names the first ones and how many are left out.
std::string printable_list(std::span<const std::string_view> names);

/// Sorts words by their bytes, or by value where all of them are numbers.
void sort_words(std::vector<std::string>& words);

/// Reverses the bytes of every element when `order` is not this machine's.
void to_native_order(std::span<std::byte> bytes, std::int64_t element_size, std::endian order);

/// Elements stored with the first index fastest, returned with the last index fastest; dims stay as they are.
/// bytes.size() == product of dims times element_size.
std::vector<std::byte> column_to_row_major(std::vector<std::byte> bytes, std::span<const std::int64_t> dims,
                                           std::int64_t element_size);

/// out[r][c] = in[c][r]: a matrix of elements of 1, 2, 4 or 8 bytes, turned around. The two do not overlap.
void copy_transposed(const std::byte* in, std::byte* out, std::int64_t rows, std::int64_t cols,
                     std::int64_t element_size);

/// The elements behind a header, row-major and in native order. Error(data) unless they fill the rest of `bytes`:
/// "... bytes of data follow the header, <claim> ...", where `claim` is the header's own words ("its sizes [2,3]
/// need").
Array read_elements(std::span<const std::byte> bytes, const ArrayHeader& header, std::string_view claim,
                    std::string_view name);

/// Reads memory from front to back. Every read is checked against what is left.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string_view name, std::endian order = std::endian::little)
      : bytes_(bytes), name_(name), order_(order) {}

  std::int64_t offset() const { return offset_; }
  std::int64_t remaining() const { return static_cast<std::int64_t>(bytes_.size()) - offset_; }
  std::string_view name() const { return name_; }

  /// The next `count` bytes; the error calls them `what`.
  std::span<const std::byte> take(std::int64_t count, std::string_view what);

  template <class T>
  T number(std::string_view what) {
    T value{};
    auto raw = take(static_cast<std::int64_t>(sizeof(T)), what);
    std::memcpy(&value, raw.data(), sizeof(T));
    to_native_order(std::as_writable_bytes(std::span(&value, 1)), sizeof(T), order_);
    return value;
  }
  std::uint16_t u16(std::string_view what) { return number<std::uint16_t>(what); }
  std::uint32_t u32(std::string_view what) { return number<std::uint32_t>(what); }

  /// Throws Error(data) at the place of the next byte.
  [[noreturn]] void fail(std::string_view what) const { fail_data(name_, offset_, what); }

 private:
  std::span<const std::byte> bytes_;
  std::string_view name_;
  std::endian order_;
  std::int64_t offset_ = 0;
};

/// Appends the bytes of a number to a file being built, in the given order.
template <class T>
void append_number(std::vector<std::byte>& out, T value, std::endian order = std::endian::little) {
  auto raw = std::as_writable_bytes(std::span(&value, 1));
  to_native_order(raw, sizeof(T), order);
  out.insert(out.end(), raw.begin(), raw.end());
}

void append_text(std::vector<std::byte>& out, std::string_view text);
/// The elements of the array, in the given byte order.
void append_elements(std::vector<std::byte>& out, const Array& array, std::endian order);

bool is_gzip(std::span<const std::byte> bytes);

}  // namespace lockstep
