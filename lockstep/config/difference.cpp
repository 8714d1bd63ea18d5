#include <algorithm>

#include <fmt/format.h>

#include "lockstep/config/config.hpp"
#include "lockstep/config/toml.hpp"

namespace lockstep {

namespace {

constexpr const char* kNothing = "nothing";

template <class T>
constexpr bool kIsNumber = std::is_same_v<T, std::int64_t> || std::is_same_v<T, double>;

/// Of values that are neither tables nor arrays. 1 and 1.0 are one value of a key that takes numbers.
bool are_same(const Value& first, const Value& second) {
  const auto same = []<class A, class B>(const A& a, const B& b) {
    if constexpr (kIsNumber<A> && kIsNumber<B> && !std::is_same_v<A, B>)
      return static_cast<double>(a) == static_cast<double>(b);
    else if constexpr (std::is_same_v<A, B> &&
                       (kIsNumber<A> || std::is_same_v<A, bool> || std::is_same_v<A, std::string>))
      return a == b;
    else
      return false;
  };
  return std::visit(same, first.data, second.data);
}

std::optional<ConfigDifference> compare(const Value* a, const Value* b, const std::string& path);

std::string join(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

/// Both are tables.
std::optional<ConfigDifference> compare_tables(const Value& first, const Value& second, const std::string& path) {
  // Of another optimiser or schedule nothing is worth saying but its name.
  if (first.find("name") != nullptr && second.find("name") != nullptr)
    if (auto found = compare(first.find("name"), second.find("name"), join(path, "name"))) return found;
  for (const Entry& entry : *first.table())
    if (auto found = compare(&entry.value, second.find(entry.key), join(path, entry.key))) return found;
  for (const Entry& entry : *second.table())
    if (first.find(entry.key) == nullptr) return compare(nullptr, &entry.value, join(path, entry.key));
  return std::nullopt;
}

std::optional<ConfigDifference> compare_arrays(const ValueArray& a, const ValueArray& b, const std::string& path) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i)
    if (auto found =
            compare(i < a.size() ? &a[i] : nullptr, i < b.size() ? &b[i] : nullptr, fmt::format("{}[{}]", path, i)))
      return found;
  return std::nullopt;
}

std::optional<ConfigDifference> compare(const Value* a, const Value* b, const std::string& path) {
  if (a != nullptr && b != nullptr) {
    if (a->table() != nullptr && b->table() != nullptr) return compare_tables(*a, *b, path);
    if (a->array() != nullptr && b->array() != nullptr) return compare_arrays(*a->array(), *b->array(), path);
    if (are_same(*a, *b)) return std::nullopt;
  }
  return ConfigDifference{path, a != nullptr ? excerpt(*a) : kNothing, b != nullptr ? excerpt(*b) : kNothing};
}

/// More epochs are a longer training of the same kind, unless the learning rate depends on their number.
void forgive_more_epochs(Value& first, Value& second) {
  Value *one = first.find("train"), *two = second.find("train");
  if (one == nullptr || two == nullptr) return;
  Value *before = one->find("epochs"), *after = two->find("epochs");
  if (before == nullptr || after == nullptr) return;
  const auto *old_count = std::get_if<std::int64_t>(&before->data), *count = std::get_if<std::int64_t>(&after->data);
  if (old_count == nullptr || count == nullptr || *count < *old_count) return;
  const Value* schedule = two->find("schedule");
  const Value* name = schedule != nullptr ? schedule->find("name") : nullptr;
  if (name != nullptr && name->string() != nullptr && (*name->string() == "cosine" || *name->string() == "one-cycle"))
    return;
  *before = *after;
}

/// Runs of before these keys were always written down did not shuffle.
void complete_split(Value& root) {
  Value* data = root.find("data");
  if (data == nullptr || data->table() == nullptr || data->find("split") == nullptr) return;
  for (const char* key : {"shuffle", "stratify"})
    if (data->find(key) == nullptr) data->table()->push_back({key, Value{false}});
}

}  // namespace

std::optional<ConfigDifference> find_difference(std::string_view first_toml, std::string_view second_toml) {
  Value first = parse_toml(first_toml, "the first configuration");
  Value second = parse_toml(second_toml, "the second configuration");
  for (Value* root : {&first, &second}) {
    complete_split(*root);
    if (ValueTable* sections = root->table())
      std::erase_if(*sections, [](const Entry& entry) {
        return entry.key == "checkpoint" || entry.key == "log" || entry.key == "guard" || entry.key == "parallel";
      });
  }
  forgive_more_epochs(first, second);
  return compare(&first, &second, "");
}

}  // namespace lockstep
