#include "lockstep/config/sections.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/config/toml.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep {

namespace {

constexpr std::size_t kMaxKeyParts = 8;

std::vector<std::string> split_key(std::string_view key, std::string_view origin) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t dot = key.find('.');
    parts.emplace_back(key.substr(0, dot));
    if (dot == std::string_view::npos) break;
    key.remove_prefix(dot + 1);
  }
  if (parts.size() < 2 || parts.size() > kMaxKeyParts ||
      std::any_of(parts.begin(), parts.end(), [](const std::string& p) { return p.empty(); }))
    throw Error(ErrorCode::usage,
                fmt::format("{}: write --set section.key=value, for example --set train.epochs=3", origin));
  return parts;
}

/// The table under `key`, made where there is none.
Value& step_into(Value& table, const std::string& key, const std::string& origin) {
  Value* next = table.find(key);
  if (next == nullptr) {
    table.table()->push_back({key, Value{ValueTable{}, origin}});
    return table.table()->back().value;
  }
  if (next->string() != nullptr) *next = Value{ValueTable{{"name", *next}}, next->origin};
  if (next->table() == nullptr)
    throw Error(ErrorCode::usage,
                fmt::format("{}: {} is {}, which has no keys; set it as a whole", origin, key, type_in_words(*next)));
  return *next;
}

void apply(Value& root, const std::string& text) {
  const std::string origin = fmt::format("--set {}", text.size() > 80 ? text.substr(0, 77) + "..." : text);
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos)
    throw Error(ErrorCode::usage,
                fmt::format("{}: write --set section.key=value, for example --set train.epochs=3", origin));
  const std::vector<std::string> parts = split_key(std::string_view(text).substr(0, equals), origin);
  Value value = parse_toml_value(std::string_view(text).substr(equals + 1), origin);
  Value* table = &root;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) table = &step_into(*table, parts[i], origin);
  if (Value* existing = table->find(parts.back()))
    *existing = std::move(value);
  else
    table->table()->push_back({parts.back(), std::move(value)});
}

}  // namespace

void apply_overrides(Value& root, const std::vector<std::string>& overrides) {
  for (const std::string& text : overrides) apply(root, text);
}

}  // namespace lockstep
