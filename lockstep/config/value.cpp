#include "lockstep/config/value.hpp"

#include <fmt/format.h>

#include <utility>

#include "lockstep/core/error.hpp"

namespace lockstep {

namespace {

constexpr std::size_t kExcerptLength = 60;

template <class... F>
struct Overload : F... {
  using F::operator()...;
};
template <class... F>
Overload(F...) -> Overload<F...>;

void append_text(const Value& value, std::string& out);

template <class Range, class Item>
void append_list(const Range& range, char open, char close, std::string& out, const Item& item) {
  out += open;
  bool first = true;
  for (const auto& element : range) {
    if (!first) out += ", ";
    first = false;
    if (out.size() > kExcerptLength) break;  // excerpt() cuts here anyway
    item(element);
  }
  out += close;
}

void append_text(const Value& value, std::string& out) {
  const Overload visitor{
      [&](bool b) { out += b ? "true" : "false"; },
      [&](std::int64_t i) { out += fmt::format("{}", i); },
      [&](double d) { out += fmt::format("{}", d); },
      [&](const std::string& s) { out += fmt::format("\"{}\"", s); },
      [&](const DateText& d) { out += d.text; },
      [&](const ValueArray& a) { append_list(a, '[', ']', out, [&](const Value& v) { append_text(v, out); }); },
      [&](const ValueTable& t) {
        append_list(t, '{', '}', out, [&](const Entry& e) {
          out += e.key + " = ";
          append_text(e.value, out);
        });
      },
  };
  std::visit(visitor, value.data);
}

}  // namespace

Value::Value() = default;
Value::Value(Data d, std::string o) : data(std::move(d)), origin(std::move(o)) {}
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

const Value* Value::find(std::string_view key) const {
  if (const ValueTable* entries = table()) {
    for (const Entry& entry : *entries)
      if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

Value* Value::find(std::string_view key) { return const_cast<Value*>(std::as_const(*this).find(key)); }

std::string_view type_in_words(const Value& value) {
  static constexpr std::string_view kWords[] = {"true or false", "a whole number", "a number",      "a string",
                                                "a list",        "a table",        "a date or time"};
  static_assert(std::size(kWords) == std::variant_size_v<decltype(Value::data)>);
  return kWords[value.data.index()];
}

std::string excerpt(const Value& value) {
  std::string text;
  append_text(value, text);
  if (text.size() > kExcerptLength) text = text.substr(0, kExcerptLength - 3) + "...";
  return text;
}

void fail_at(const Value& value, std::string_view path, std::string_view message) {
  throw Error(ErrorCode::usage, fmt::format("{}: {}: {}", value.origin, path, message));
}

}  // namespace lockstep
