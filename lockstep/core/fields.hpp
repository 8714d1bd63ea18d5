#pragma once
// Records that list their own fields, so that every reader and writer follows from one list: TOML, JSON, results,
// reports, the tables of the documentation (docs/design/0020-records.md).
//
//   struct Dropout {
//     double p = 0.5;
//     static constexpr auto fields() {
//       return std::tuple{field("p", &Dropout::p, kFraction, "share of elements set to 0").shorthand()};
//     }
//   };
//   for_each_field(dropout, [](const auto& field, auto& value) { ... field.name ... });
//
// The list names every member, in the order of declaration: a forgotten member does not compile. A member that is a
// record itself adds its own fields. A reader or writer that does not know a field's type does not compile either.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace lockstep {

/// Whole numbers from min to max, both allowed.
struct IntRange {
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

/// Finite numbers between min and max; an end is allowed unless it is open.
struct NumberRange {
  double min = 0;
  double max = std::numeric_limits<double>::infinity();
  bool open_min = false, open_max = false;
};
inline constexpr NumberRange kPositive{.open_min = true};
inline constexpr NumberRange kNotNegative{};
inline constexpr NumberRange kFraction{.max = 1, .open_max = true};                          // [0, 1)
inline constexpr NumberRange kProperFraction{.max = 1, .open_min = true, .open_max = true};  // (0, 1)
inline constexpr NumberRange kShare{.max = 1, .open_min = true};                             // (0, 1]

/// Of types that need no range: flags, names, lists.
struct AnyValue {};

/// A text that is one of these.
struct OneOf {
  const std::vector<std::string>& (*names)();
};

/// A flag that is written as one of two words.
struct TwoWords {
  const char *no, *yes;
};

/// A text, or a whole number that is kept as text.
struct TextOrIndex {
  IntRange range;
};

/// A fraction below 1, or a whole number of samples.
struct CountOrFraction {};

/// One field of a record. `member` is a pointer to it, or a function object from the record to a reference.
template <class Record, class Member, class Range = AnyValue>
struct Field {
  using Type = std::remove_cvref_t<std::invoke_result_t<Member, Record&>>;

  std::string_view name;  // in files
  Member member;
  std::string_view help{};  // one line
  Range range{};
  bool required = true;  // false: a file without it leaves the member as the record initialises it

  // What a configuration does with it.
  const char* hint = nullptr;                     // not null: must be given; the end of the message where it is not
  const char* zero_word = nullptr;                // of a whole number: the word that is written for 0
  bool is_shorthand = false;                      // {dropout = 0.5} stands for {dropout = {p = 0.5}}
  bool is_quiet = false;                          // not written where it has its default
  bool (*applies)(const Record&) = nullptr;       // null: always; else the record has the field only where this holds
  std::string (*fault)(const Record&) = nullptr;  // null: the range says all; else what is wrong with the value, or ""

  // In a hint {0} is the name of the record, and braces stand twice, as in a format string.
  constexpr Field needs(const char* text) const { return with(&Field::hint, text); }
  constexpr Field or_zero(const char* word) const { return with(&Field::zero_word, word); }
  constexpr Field shorthand() const { return with(&Field::is_shorthand, true); }
  constexpr Field quiet() const { return with(&Field::is_quiet, true); }
  constexpr Field when(bool (*test)(const Record&)) const { return with(&Field::applies, test); }
  constexpr Field check(std::string (*test)(const Record&)) const { return with(&Field::fault, test); }

  decltype(auto) of(Record& record) const { return std::invoke(member, record); }
  decltype(auto) of(const Record& record) const { return std::invoke(member, record); }
  bool belongs_to(const Record& record) const { return applies == nullptr || applies(record); }

 private:
  template <class T>
  constexpr Field with(T Field::*property, T value) const {
    Field changed = *this;
    changed.*property = value;
    return changed;
  }
};

template <class Record, class Value>
constexpr auto field(std::string_view name, Value Record::*member, std::string_view help = {}) {
  return Field<Record, Value Record::*>{name, member, help};
}
template <class Record, class Value, class Range>
constexpr auto field(std::string_view name, Value Record::*member, Range range, std::string_view help) {
  return Field<Record, Value Record::*, Range>{name, member, help, range};
}

/// A value inside a member: `get` returns a reference to it.
template <class Record, class Get, class Range>
constexpr auto field_in(std::string_view name, Get get, Range range, std::string_view help) {
  return Field<Record, Get, Range>{name, get, help, range};
}

/// A field that files may lack.
template <class Record, class Value>
constexpr auto defaulted(std::string_view name, Value Record::*member, std::string_view help = {}) {
  return Field<Record, Value Record::*>{name, member, help, {}, false};
}

/// A member that is a record.
template <class Record, class Value>
constexpr auto part(Value Record::*member) {
  return Field<Record, Value Record::*>{"", member};
}

template <class Record>
concept HasFields = requires {
  Record::fields();
};

/// A value of any type, for expressions that are never evaluated.
struct AnyMember {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor): an initialiser of whatever member it meets
};
template <class Record, std::size_t... kMember>
constexpr bool takes_members(std::index_sequence<kMember...>) {
  return requires { Record{(static_cast<void>(kMember), AnyMember{})...}; };
}

/// Whether the list has as many fields as the record, an aggregate, has members, and members of their types, one after
/// the other, fill the record: false where a member is missing (in the padding too) or out of order.
template <class Record>
constexpr bool lists_every_member() {
  constexpr std::size_t kFields = std::tuple_size_v<decltype(Record::fields())>;
  if (!takes_members<Record>(std::make_index_sequence<kFields>()) ||
      takes_members<Record>(std::make_index_sequence<kFields + 1>()))
    return false;
  std::size_t end = std::is_empty_v<Record> ? 1 : 0, widest = 1;
  const auto place = [&]<class Each>(const Each&) {
    using Type = typename Each::Type;
    end = (end + alignof(Type) - 1) / alignof(Type) * alignof(Type) + sizeof(Type);
    widest = std::max(widest, alignof(Type));
  };
  std::apply([&](const auto&... each) { (place(each), ...); }, Record::fields());
  return (end + widest - 1) / widest * widest == sizeof(Record);
}

/// `function(field)` for every field of a list.
template <class Fields, class Function>
constexpr void for_each_in(const Fields& fields, const Function& function) {
  std::apply([&](const auto&... each) { (function(each), ...); }, fields);
}

/// `function(field, value)` for every field, those of records within included.
template <class Record, class Function>
constexpr void for_each_field(Record& record, const Function& function) {
  using Plain = std::remove_const_t<Record>;
  static_assert(lists_every_member<Plain>(), "fields() must list every member, in the order of declaration");
  for_each_in(Plain::fields(), [&]<class Each>(const Each& each) {
    if constexpr (HasFields<typename Each::Type>)
      for_each_field(each.of(record), function);
    else
      function(each, each.of(record));
  });
}

/// The names of those fields that the record has.
template <class Record, class Fields>
std::vector<std::string> field_names(const Record& record, const Fields& fields) {
  std::vector<std::string> names;
  for_each_in(fields, [&](const auto& each) {
    if (each.belongs_to(record)) names.emplace_back(each.name);
  });
  return names;
}

}  // namespace lockstep
