#pragma once
// What a data file holds: an n-dimensional array of numbers, in the type the file stores them in.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace lockstep {

enum class ElementType : std::uint8_t {
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  uint64,
  int64,
  float32,
  float64,
};

/// Bytes of one element: 1, 2, 4 or 8.
std::int64_t element_size(ElementType type);
/// "uint8", "float64", ...
std::string_view to_string(ElementType type);

template <class T>
constexpr ElementType element_type_of() {
  if constexpr (std::is_same_v<T, float>) return ElementType::float32;
  if constexpr (std::is_same_v<T, double>) return ElementType::float64;
  constexpr bool is_signed = std::is_signed_v<T>;
  if constexpr (sizeof(T) == 1) return is_signed ? ElementType::int8 : ElementType::uint8;
  if constexpr (sizeof(T) == 2) return is_signed ? ElementType::int16 : ElementType::uint16;
  if constexpr (sizeof(T) == 4 && std::is_integral_v<T>) return is_signed ? ElementType::int32 : ElementType::uint32;
  return is_signed ? ElementType::int64 : ElementType::uint64;
}

/// Calls f(T{}) with the C++ type that `type` names.
template <class F>
decltype(auto) visit_element_type(ElementType type, F&& f) {
  switch (type) {
    case ElementType::uint8:
      return f(std::uint8_t{});
    case ElementType::int8:
      return f(std::int8_t{});
    case ElementType::uint16:
      return f(std::uint16_t{});
    case ElementType::int16:
      return f(std::int16_t{});
    case ElementType::uint32:
      return f(std::uint32_t{});
    case ElementType::int32:
      return f(std::int32_t{});
    case ElementType::uint64:
      return f(std::uint64_t{});
    case ElementType::int64:
      return f(std::int64_t{});
    case ElementType::float32:
      return f(float{});
    case ElementType::float64:
      break;
  }
  return f(double{});
}

/// Row-major (the last index runs fastest), in the byte order of this machine.
/// Invariant: bytes.size() == elements() * element_size(type). Rank 0 is one element.
struct Array {
  ElementType type = ElementType::float64;
  std::vector<std::int64_t> dims;
  std::vector<std::byte> bytes;

  int rank() const { return static_cast<int>(dims.size()); }
  std::int64_t elements() const { return static_cast<std::int64_t>(bytes.size()) / element_size(type); }
  /// Elements per entry of the first dimension; 0 when there are none, 1 for rank 0.
  std::int64_t row_elements() const;
  /// Element i in storage order, as a double (64-bit integers beyond 2^53 are rounded).
  double value(std::int64_t i) const;
  /// The elements as T; T must be the stored type.
  template <class T>
  std::span<const T> as() const {
    check_type(element_type_of<T>());
    return {reinterpret_cast<const T*>(bytes.data()), static_cast<std::size_t>(elements())};
  }
  template <class T>
  std::span<T> as() {
    check_type(element_type_of<T>());
    return {reinterpret_cast<T*>(bytes.data()), static_cast<std::size_t>(elements())};
  }
  /// "uint8 [60000,28,28]"
  std::string describe() const;

 private:
  void check_type(ElementType wanted) const;
};

/// An array of zeros. The product of dims times the element size must fit memory: callers check sizes from files.
Array make_array(ElementType type, std::vector<std::int64_t> dims);

/// An array with a copy of these values.
template <class T>
Array array_from(std::vector<std::int64_t> dims, std::span<const T> values) {
  const auto raw = std::as_bytes(values);
  return {element_type_of<T>(), std::move(dims), std::vector<std::byte>(raw.begin(), raw.end())};
}

/// What stands before the elements of an IDX or .npy file.
struct ArrayHeader {
  ElementType type = ElementType::uint8;
  std::vector<std::int64_t> dims;
  std::int64_t data_offset = 0;  // of the first element in the file
  std::int64_t data_bytes = 0;   // of all elements: checked for overflow, not against the file's length
  std::endian order = std::endian::native;
  bool column_major = false;
};

/// A named array of a file that holds several (.npz, .mat).
struct NamedArray {
  std::string name;
  Array array;
};

}  // namespace lockstep
