#include "cli/exercise/arguments.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lockstep::cli {

namespace {

constexpr std::uint32_t kMark32 = 0x7FC0DEAD;          // a quiet NaN
constexpr std::uint64_t kMark64 = 0x7FF8DEADDEADDEAD;  // the same for double
constexpr std::int32_t kMarkInteger = 0x5EAD5EAD;

template <class T>
T load(const CaseArguments::Array& array, std::int64_t index) {
  T value;
  std::memcpy(&value, array.bytes.data() + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
void store(CaseArguments::Array& array, std::int64_t index, T value) {
  std::memcpy(array.bytes.data() + index * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

/// Calls act(T{}) with the type of the elements.
template <class Act>
auto with_type(Element element, const Act& act) {
  switch (element) {
    case Element::float32:
      return act(float{});
    case Element::float64:
      return act(double{});
    case Element::int32:
      return act(std::int32_t{});
    case Element::int64:
      break;
  }
  return act(std::int64_t{});
}

void fill_random(CaseArguments::Array& array, CaseRandom& random) {
  with_type(array.field->element, [&](auto type) {
    using T = decltype(type);
    for (std::int64_t i = 0; i < array.count(); ++i)
      if constexpr (std::is_floating_point_v<T>)
        store<T>(array, i, T(2) * T(random.uniform()) - T(1));
      else
        store<T>(array, i, static_cast<T>(random.below(2001) - 1000));
  });
}

void fill_marked(CaseArguments::Array& array) {
  for (std::int64_t i = 0; i < array.count(); ++i) switch (array.field->element) {
      case Element::float32:
        store<std::uint32_t>(array, i, kMark32);
        break;
      case Element::float64:
        store<std::uint64_t>(array, i, kMark64);
        break;
      case Element::int32:
        store<std::int32_t>(array, i, kMarkInteger);
        break;
      case Element::int64:
        store<std::int64_t>(array, i, kMarkInteger);
        break;
    }
}

/// Integers in the order of the numbers: neighbours differ by 1.
template <class Bits, class T>
double ordered(T value) {
  Bits bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits < 0 ? -double(bits & std::numeric_limits<Bits>::max()) : double(bits);
}

}  // namespace

CaseArguments::CaseArguments(const Exercise& exercise, const CaseShape& shape, std::uint64_t seed)
    : exercise_(&exercise), shape_(shape), seed_(seed), struct_(static_cast<std::int64_t>(exercise.struct_bytes)) {
  CaseRandom random(seed);
  std::size_t size = 0;
  for (const ArgumentField& field : exercise.fields) {
    std::byte* const place = struct_.data() + field.offset;
    if (field.kind == ArgumentField::Kind::size) std::memcpy(place, &shape.at(size++), sizeof(std::int64_t));
    if (field.kind == ArgumentField::Kind::scalar)
      with_type(field.element, [&](auto type) {
        const auto value = static_cast<decltype(type)>(random.uniform());
        std::memcpy(place, &value, sizeof value);
      });
  }
  for (const ArgumentField& field : exercise.fields) {
    if (!field.array()) continue;
    Array array{.field = &field, .dims = field.dims(get()), .given = !field.optional || random.below(2) == 0};
    array.bytes = AlignedBuffer<std::byte>(array.size_bytes());
    if (field.kind != ArgumentField::Kind::output) fill_random(array, random);
    arrays_.push_back(std::move(array));
  }
  point_to_arrays();
  if (exercise.prepare) exercise.prepare(get(), random);
  fill_outputs(Fill::marked);
}

CaseArguments::CaseArguments(const CaseArguments& other)
    : exercise_(other.exercise_),
      shape_(other.shape_),
      seed_(other.seed_),
      struct_(other.struct_),
      arrays_(other.arrays_) {
  point_to_arrays();
}

void CaseArguments::point_to_arrays() {
  for (Array& array : arrays_) {
    // An array without elements has an address too, as a student's would.
    static std::byte nothing[64];
    std::byte* const address = !array.given ? nullptr : array.bytes.size() == 0 ? nothing : array.bytes.data();
    std::memcpy(struct_.data() + array.field->offset, &address, sizeof address);
  }
}

void CaseArguments::fill_outputs(Fill fill) {
  for (Array& array : arrays_) {
    if (array.field->kind != ArgumentField::Kind::output) continue;
    if (fill == Fill::marked)
      fill_marked(array);
    else
      std::fill_n(array.bytes.data(), array.bytes.size(), std::byte{0});
  }
}

std::string shape_text(const Exercise& exercise, const CaseShape& shape) {
  std::vector<std::string> parts;
  std::size_t size = 0;
  for (const ArgumentField& field : exercise.fields)
    if (field.kind == ArgumentField::Kind::size) parts.push_back(fmt::format("{} {}", field.name, shape.at(size++)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

double element_at(const CaseArguments::Array& array, std::int64_t index) {
  return with_type(array.field->element, [&](auto type) { return double(load<decltype(type)>(array, index)); });
}

bool untouched(const CaseArguments::Array& array, std::int64_t index) {
  switch (array.field->element) {
    case Element::float32:
      return load<std::uint32_t>(array, index) == kMark32;
    case Element::float64:
      return load<std::uint64_t>(array, index) == kMark64;
    case Element::int32:
      return load<std::int32_t>(array, index) == kMarkInteger;
    case Element::int64:
      break;
  }
  return load<std::int64_t>(array, index) == kMarkInteger;
}

bool same_element(const CaseArguments::Array& a, const CaseArguments::Array& b, std::int64_t index) {
  return with_type(a.field->element, [&](auto type) {
    const auto one = load<decltype(type)>(a, index), other = load<decltype(type)>(b, index);
    return one == other || (one != one && other != other && untouched(a, index) == untouched(b, index));
  });
}

double ulp_distance(const CaseArguments::Array& a, const CaseArguments::Array& b, std::int64_t index) {
  const double one = element_at(a, index), other = element_at(b, index);
  if (one == other) return 0;
  if (!std::isfinite(one) || !std::isfinite(other)) return std::numeric_limits<double>::max();
  if (a.field->element == Element::float32)
    return std::abs(ordered<std::int32_t>(load<float>(a, index)) - ordered<std::int32_t>(load<float>(b, index)));
  if (a.field->element == Element::float64) return std::abs(ordered<std::int64_t>(one) - ordered<std::int64_t>(other));
  return std::abs(one - other);
}

std::string element_name(const CaseArguments::Array& array, std::int64_t index) {
  std::vector<std::int64_t> place(array.dims.size());
  for (std::size_t d = array.dims.size(); d-- > 0;) {
    place[d] = index % array.dims[d];
    index /= array.dims[d];
  }
  return fmt::format("{}[{}]", array.field->name, fmt::join(place, ", "));
}

std::string element_text(const CaseArguments::Array& array, std::int64_t index) {
  if (untouched(array, index)) return "nothing (it was not written)";
  if (array.field->element == Element::float32) return fmt::format("{:.9g}", element_at(array, index));
  if (array.field->element == Element::float64) return fmt::format("{:.17g}", element_at(array, index));
  return fmt::format("{:.0f}", element_at(array, index));
}

bool same_results(const CaseArguments& a, const CaseArguments& b) {
  for (std::size_t i = 0; i < a.arrays().size(); ++i) {
    if (!a.arrays()[i].field->written()) continue;
    for (std::int64_t e = 0; e < a.arrays()[i].count(); ++e)
      if (!same_element(a.arrays()[i], b.arrays()[i], e)) return false;
  }
  return true;
}

}  // namespace lockstep::cli
