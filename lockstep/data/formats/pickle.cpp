#include "lockstep/data/formats/pickle.hpp"

#include <map>
#include <string>

#include <fmt/format.h>

#include "lockstep/data/bytes.hpp"

namespace lockstep {

namespace {

/// The stack machine. Every opcode takes a byte at least and makes one value at most, so the values are bounded by the
/// pickle's size.
class PickleMachine {
 public:
  PickleMachine(std::span<const std::byte> bytes, std::string_view name, std::deque<PickleValue>& values)
      : bytes_(bytes), reader_(bytes, name), values_(values) {}

  const PickleValue* run() {
    for (;;) {
      start_ = reader_.offset();
      const auto code = static_cast<unsigned char>(reader_.number<std::uint8_t>("an opcode"));
      if (code == '.') return pop();
      if (!literal(code) && !memo(code) && !build(code))
        fail(fmt::format("opcode 0x{:02x} is none of a dictionary of tensors", code));
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    fail_data(reader_.name(), start_,
              what + "; save the weights alone: torch.save(model.state_dict(), path), or as .safetensors");
  }
  PickleValue* push(PickleValue value) {
    stack_.push_back(&values_.emplace_back(std::move(value)));
    return stack_.back();
  }
  PickleValue* pop() {
    if (stack_.empty()) fail("the pickle takes a value that is not there");
    PickleValue* const top = stack_.back();
    stack_.pop_back();
    return top;
  }
  std::string_view text(std::int64_t length) {
    const std::span<const std::byte> bytes = reader_.take(length, "a text");
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  /// "module\nname", and the break behind it.
  std::string_view global() {
    const std::span<const std::byte> rest = bytes_.subspan(static_cast<std::size_t>(reader_.offset()));
    const std::string_view all(reinterpret_cast<const char*>(rest.data()), rest.size());
    const std::size_t first = all.find('\n'), second = first == all.npos ? first : all.find('\n', first + 1);
    if (second == all.npos) fail("a name does not end");
    reader_.take(static_cast<std::int64_t>(second) + 1, "a name");
    return all.substr(0, second);
  }
  /// What lies above the last mark.
  std::vector<const PickleValue*> above_mark() {
    std::vector<const PickleValue*> items;
    for (PickleValue* top = pop(); top->kind != PickleKind::mark; top = pop()) items.push_back(top);
    return {items.rbegin(), items.rend()};
  }
  std::int64_t long_number() {
    const auto length = reader_.number<std::uint8_t>("a length");
    if (length > 8) fail("a number of more than 64 bits");
    std::uint64_t value = 0;
    std::uint8_t last = 0;
    for (int i = 0; i < length; ++i) {
      last = reader_.number<std::uint8_t>("a number");
      value |= std::uint64_t{last} << (8 * i);
    }
    if (length > 0 && length < 8 && (last & 0x80) != 0) value |= ~std::uint64_t{0} << (8 * length);
    return static_cast<std::int64_t>(value);
  }

  bool literal(unsigned char code) {
    switch (code) {
      case 0x80:  // protocol
        return reader_.number<std::uint8_t>("a version"), true;
      case 0x95:  // frame
        return reader_.take(8, "a frame"), true;
      case 'N':
        return push({}), true;
      case 0x88:
      case 0x89:
        return push({.kind = PickleKind::number, .number = code == 0x88}), true;
      case 'K':
        return push({.kind = PickleKind::number, .number = reader_.number<std::uint8_t>("a number")}), true;
      case 'M':
        return push({.kind = PickleKind::number, .number = reader_.u16("a number")}), true;
      case 'J':
        return push({.kind = PickleKind::number, .number = reader_.number<std::int32_t>("a number")}), true;
      case 0x8a:
        return push({.kind = PickleKind::number, .number = long_number()}), true;
      case 'G':  // a real number: none is needed
        return reader_.take(8, "a number"), push({}), true;
      case 'X':
        return push({.kind = PickleKind::text, .text = text(reader_.u32("a length"))}), true;
      case 0x8c:
      case 'U':
        return push({.kind = PickleKind::text, .text = text(reader_.number<std::uint8_t>("a length"))}), true;
      case 'c':
        return push({.kind = PickleKind::name, .text = global()}), true;
      case '(':
        return push({.kind = PickleKind::mark}), true;
      case '}':
        return push({.kind = PickleKind::dict}), true;
      case ')':
      case ']':
        return push({.kind = PickleKind::list}), true;
      default:
        return false;
    }
  }

  bool memo(unsigned char code) {
    const auto keep = [&](std::uint32_t at) {
      if (stack_.empty()) fail("the pickle keeps a value that is not there");
      memo_[at] = stack_.back();
      return true;
    };
    const auto get = [&](std::uint32_t at) {
      const auto found = memo_.find(at);
      if (found == memo_.end()) fail("the pickle asks for a value that it did not keep");
      stack_.push_back(found->second);
      return true;
    };
    switch (code) {
      case 'q':
        return keep(reader_.number<std::uint8_t>("a place"));
      case 'r':
        return keep(reader_.u32("a place"));
      case 0x94:
        return keep(static_cast<std::uint32_t>(memo_.size()));
      case 'h':
        return get(reader_.number<std::uint8_t>("a place"));
      case 'j':
        return get(reader_.u32("a place"));
      default:
        return false;
    }
  }

  bool build(unsigned char code) {
    switch (code) {
      case 't':
        return push({.kind = PickleKind::list, .items = above_mark()}), true;
      case 0x85:
      case 0x86:
      case 0x87: {
        std::vector<const PickleValue*> items(code - 0x84);
        for (std::size_t i = items.size(); i-- > 0;) items[i] = pop();
        return push({.kind = PickleKind::list, .items = std::move(items)}), true;
      }
      case 'e':
      case 'a':
        append(code == 'e' ? above_mark() : std::vector<const PickleValue*>{pop()}, PickleKind::list);
        return true;
      case 'u':
        append(above_mark(), PickleKind::dict);
        return true;
      case 's': {
        const PickleValue* const value = pop();
        append({pop(), value}, PickleKind::dict);
        return true;
      }
      case 'b':  // attributes of the dictionary: PyTorch's _metadata
        pop();
        if (stack_.empty() || stack_.back()->kind != PickleKind::dict) fail("an object with attributes");
        return true;
      case 'Q':
        return storage(*pop()), true;
      case 'R': {
        const PickleValue* const arguments = pop();
        return reduce(*pop(), *arguments), true;
      }
      default:
        return false;
    }
  }

  void append(const std::vector<const PickleValue*>& items, PickleKind kind) {
    if (stack_.empty() || stack_.back()->kind != kind || (kind == PickleKind::dict && items.size() % 2 != 0))
      fail("values that belong to nothing");
    stack_.back()->items.insert(stack_.back()->items.end(), items.begin(), items.end());
  }

  /// ("storage", type, key, device, elements)
  void storage(const PickleValue& id) {
    if (id.kind != PickleKind::list || id.items.size() != 5 || id.items[1]->kind != PickleKind::name ||
        id.items[2]->kind != PickleKind::text)
      fail("a reference to something that is no storage");
    push({.kind = PickleKind::storage, .items = {id.items[1], id.items[2]}});
  }

  void reduce(const PickleValue& function, const PickleValue& arguments) {
    if (function.kind != PickleKind::name || arguments.kind != PickleKind::list)
      fail("a call of something that has no name");
    const auto& items = arguments.items;
    if (function.text == "collections\nOrderedDict" && items.empty()) {
      push({.kind = PickleKind::dict});
    } else if (function.text == "torch._utils\n_rebuild_parameter" && !items.empty() &&
               items[0]->kind == PickleKind::tensor) {
      push(*items[0]);
    } else if (function.text == "torch._utils\n_rebuild_tensor_v2" && items.size() >= 4 &&
               items[0]->kind == PickleKind::storage && items[1]->kind == PickleKind::number &&
               items[2]->kind == PickleKind::list && items[3]->kind == PickleKind::list) {
      push({.kind = PickleKind::tensor, .items = {items.begin(), items.begin() + 4}});
    } else {
      std::string name(function.text);
      if (const std::size_t at = name.find('\n'); at != name.npos) name[at] = '.';
      fail(fmt::format("a Python object, {}", printable(name)));
    }
  }

  std::span<const std::byte> bytes_;
  ByteReader reader_;
  std::deque<PickleValue>& values_;
  std::vector<PickleValue*> stack_;
  std::map<std::uint32_t, PickleValue*> memo_;
  std::int64_t start_ = 0;
};

}  // namespace

Pickle::Pickle(std::span<const std::byte> bytes, std::string_view name)
    : root_(PickleMachine(bytes, name, values_).run()) {}

}  // namespace lockstep
