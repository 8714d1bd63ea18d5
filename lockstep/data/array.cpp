#include "lockstep/data/array.hpp"

#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"

namespace lockstep {

std::int64_t element_size(ElementType type) {
  return visit_element_type(type, [](auto zero) { return static_cast<std::int64_t>(sizeof(zero)); });
}

std::string_view to_string(ElementType type) {
  static constexpr std::string_view kNames[] = {"uint8", "int8",   "uint16", "int16",   "uint32",
                                                "int32", "uint64", "int64",  "float32", "float64"};
  return kNames[static_cast<std::size_t>(type)];
}

std::int64_t Array::row_elements() const {
  if (dims.empty()) return 1;
  return dims.front() == 0 ? 0 : elements() / dims.front();
}

double Array::value(std::int64_t i) const {
  return visit_element_type(type, [&](auto element) {
    std::memcpy(&element, bytes.data() + i * static_cast<std::int64_t>(sizeof(element)), sizeof(element));
    return static_cast<double>(element);
  });
}

std::string Array::describe() const { return fmt::format("{} [{}]", to_string(type), fmt::join(dims, ",")); }

void Array::check_type(ElementType wanted) const {
  if (type != wanted) {
    throw Error(ErrorCode::bug, fmt::format("array: {} read as {}", describe(), to_string(wanted)));
  }
}

Array make_array(ElementType type, std::vector<std::int64_t> dims) {
  std::int64_t bytes = element_size(type);
  for (const std::int64_t extent : dims) bytes *= extent;
  return {type, std::move(dims), std::vector<std::byte>(static_cast<std::size_t>(bytes))};
}

}  // namespace lockstep
