#pragma once
// Records that list their own fields, so that every reader and writer follows from one list.
//
//   struct Point {
//     double x = 0;
//     std::optional<double> weight{};
//     static constexpr auto fields() {
//       return std::tuple{field("x", &Point::x, "east of the origin"), field("weight", &Point::weight)};
//     }
//   };
//   for_each_field(point, [](const auto& field, auto& value) { ... field.name ... });
//
// The list names every member, in the order of declaration: one that is forgotten does not compile. A member that is a
// record itself adds its own fields.

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace lockstep {

template <class Record, class Value>
struct Field {
  std::string_view name;  // in files
  Value Record::*member;
  std::string_view help{};  // one line
  bool required = true;     // false: a file without it leaves the member as the record initialises it
};

template <class Record, class Value>
constexpr Field<Record, Value> field(std::string_view name, Value Record::*member, std::string_view help = {}) {
  return {name, member, help};
}

/// A field that files may lack.
template <class Record, class Value>
constexpr Field<Record, Value> defaulted(std::string_view name, Value Record::*member, std::string_view help = {}) {
  return {name, member, help, false};
}

/// A member that is a record.
template <class Record, class Value>
constexpr Field<Record, Value> part(Value Record::*member) {
  return {"", member};
}

template <class Record>
concept HasFields = requires {
  Record::fields();
};

/// Whether members of these types, one after the other, fill the record: false where one is missing or out of order.
template <class Record>
constexpr bool lists_every_member() {
  std::size_t end = 0, widest = 1;
  const auto place = [&]<class Value>(const Field<Record, Value>&) {
    end = (end + alignof(Value) - 1) / alignof(Value) * alignof(Value) + sizeof(Value);
    widest = std::max(widest, alignof(Value));
  };
  std::apply([&](const auto&... field) { (place(field), ...); }, Record::fields());
  return (end + widest - 1) / widest * widest == sizeof(Record);
}

/// `function(field, value)` for every field, those of records within included.
template <class Record, class Function>
constexpr void for_each_field(Record& record, const Function& function) {
  using Plain = std::remove_const_t<Record>;
  static_assert(lists_every_member<Plain>(), "fields() must list every member, in the order of declaration");
  const auto visit = [&]<class Value>(const Field<Plain, Value>& field) {
    if constexpr (HasFields<Value>)
      for_each_field(record.*field.member, function);
    else
      function(field, record.*field.member);
  };
  std::apply([&](const auto&... field) { (visit(field), ...); }, Plain::fields());
}

}  // namespace lockstep
