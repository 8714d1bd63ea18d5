#pragma once
// The names that configurations and files have for the values of an enumeration and the records of a variant.

#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace lockstep {

/// A name, and one line of help for the documentation.
struct Described {
  const char* name = nullptr;
  const char* help = nullptr;
};

/// The names of an enumeration, in its order. `Described describe(Enum)` is a switch over its values, without a
/// default, that returns {} behind the last one: a value that is forgotten does not compile.
template <class Enum>
const std::vector<std::string>& names_of() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (int i = 0; describe(static_cast<Enum>(i)).name != nullptr; ++i)
      all.emplace_back(describe(static_cast<Enum>(i)).name);
    return all;
  }();
  return names;
}
template <class Enum>
std::string name_of(Enum value) {
  return describe(value).name;
}

/// The names of a variant's records (Record::kName), in its order.
template <class Variant>
const std::vector<std::string>& record_names() {
  static const std::vector<std::string> names = []<class... Record>(std::type_identity<std::variant<Record...>>) {
    return std::vector<std::string>{Record::kName...};
  }(std::type_identity<Variant>{});
  return names;
}

/// The record at a place of a variant's list, with its defaults.
template <class Variant, std::size_t I = 0>
Variant default_record(std::size_t index) {
  if constexpr (I + 1 < std::variant_size_v<Variant>)
    if (index != I) return default_record<Variant, I + 1>(index);
  return Variant(std::in_place_index<I>);
}

}  // namespace lockstep
