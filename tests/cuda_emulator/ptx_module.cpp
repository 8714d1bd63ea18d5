// Reads the text of PTX files.

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "counters.hpp"
#include "cuda_runtime.h"
#include "options.hpp"
#include "ptx.hpp"
#include "report.hpp"

namespace cuda_emulator::ptx {

namespace {

constexpr Word kGarbage = 0xdeadbeefdeadbeefu;  // registers at the start: a value that nothing computes by chance

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

bool starts(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

/// The name in "_ZN8lockstep4cuda..kernels_float_cu_1a2b12conv2d_tiledEPKf": the last part with a length before it.
std::string plain_name(std::string_view mangled) {
  if (!starts(mangled, "_ZN")) return std::string(mangled);
  std::string_view rest = mangled.substr(3), name;
  while (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest.front())) != 0) {
    std::size_t length = 0;
    const auto end = std::from_chars(rest.data(), rest.data() + rest.size(), length).ptr;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (length > rest.size()) fail("PTX: the name " + std::string(mangled) + " cannot be read");
    name = rest.substr(0, length);
    rest.remove_prefix(length);
  }
  return std::string(name);
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::map<std::string, Kernel, std::less<>> read() {
    std::map<std::string, Kernel, std::less<>> kernels;
    while (const auto statement = next()) {
      const std::size_t entry = statement->find(".entry");
      if (entry == std::string_view::npos) continue;
      Kernel kernel = read_kernel(trimmed(statement->substr(entry + 6)));
      std::string name = kernel.name;
      if (!kernels.emplace(std::move(name), std::move(kernel)).second) complain("two kernels of one name");
    }
    return kernels;
  }

 private:
  [[noreturn]] void complain(const std::string& what) const {
    fail("PTX, line " + std::to_string(line_) + ": " + what);
  }

  /// The next statement: up to a semicolon, a brace of its own or a colon behind a label. Comments are left out.
  std::optional<std::string_view> next() {
    statement_.clear();
    bool in_list = false;  // {%f1, %f2}
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '/') {
        while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
        continue;
      }
      const bool directive =
          c == '\n' && (starts(trimmed(statement_), ".version") || starts(trimmed(statement_), ".target") ||
                        starts(trimmed(statement_), ".address_size"));
      in_list = (in_list || (c == '{' && at_ + 1 < text_.size() && text_[at_ + 1] == '%')) && c != '}';
      if (c == ';' || (c == '{' && !in_list) || (c == '}' && statement_.find('{') == std::string::npos) ||
          (c == ':' && starts(trimmed(statement_), "$")) || directive) {
        ++at_;
        ended_by_ = c;
        return trimmed(statement_);
      }
      statement_ += c;
    }
    return std::nullopt;
  }

  Kernel read_kernel(std::string_view head) {
    if (ended_by_ != '{') complain("a kernel without a body");
    kernel_ = {};
    places_.clear();
    labels_.clear();
    branches_.clear();
    parameters_.clear();
    kernel_.name = plain_name(trimmed(head.substr(0, head.find('('))));
    for (std::string_view rest = head.substr(head.find('(') + 1); rest.find(".param") != std::string_view::npos;) {
      rest = trimmed(rest.substr(rest.find(".param") + 6));
      const std::string_view type = rest.substr(0, rest.find_first_of(" \t"));
      rest = trimmed(rest.substr(type.size()));
      parameters_.emplace(rest.substr(0, rest.find_first_of(",\n )")), parameters_.size());
      if (type.size() != 4 || (!type.ends_with("32") && !type.ends_with("64")))
        complain("a parameter of type " + std::string(type));
      kernel_.parameter_bytes.push_back(type.ends_with("32") ? 4 : 8);
    }
    for (const std::string_view name : kSpecialRegisters) place_of(std::string(name), 0);
    while (const auto statement = next()) {
      if (ended_by_ == '}') break;
      if (ended_by_ == ':')
        labels_[std::string(*statement)] = static_cast<int>(kernel_.code.size());
      else if (starts(*statement, "."))
        read_declaration(*statement);
      else
        read_instruction(*statement);
    }
    for (const auto& [index, label] : branches_) {
      const auto found = labels_.find(label);
      if (found == labels_.end()) complain("no label " + label);
      kernel_.code[index].target = found->second;
    }
    if (kernel_.code.empty() || kernel_.code.back().run != find_form("ret")) complain("a kernel that does not return");
    return std::move(kernel_);
  }

  int place_of(const std::string& name, Word initial) {
    const auto [found, added] = places_.emplace(name, static_cast<int>(kernel_.initial.size()));
    if (added) kernel_.initial.push_back(initial);
    return found->second;
  }

  /// ".shared .align 16 .b8 name[5760]", ".local ...", ".reg ..." (registers get places when they are met).
  void read_declaration(std::string_view text) {
    const bool shared = starts(text, ".shared"), local = starts(text, ".local");
    if (!shared && !local) {
      if (!starts(text, ".reg") && !starts(text, ".pragma")) complain("unknown declaration " + std::string(text));
      return;
    }
    std::size_t align = 1, bytes = 0;
    const std::size_t open = text.find('['), at = text.find(".align"), b8 = text.find(".b8");
    if (open == std::string_view::npos || at == std::string_view::npos || b8 == std::string_view::npos)
      complain("unknown declaration " + std::string(text));
    const std::string_view number = trimmed(text.substr(at + 6));
    std::from_chars(number.data(), number.data() + number.size(), align);
    std::from_chars(text.data() + open + 1, text.data() + text.size(), bytes);
    std::size_t& size = shared ? kernel_.shared_bytes : kernel_.local_bytes;
    size = (size + align - 1) / align * align;
    place_of(std::string(trimmed(text.substr(b8 + 3, open - b8 - 3))), size);
    size += bytes;
  }

  void read_instruction(std::string_view text) {
    Instruction i;
    i.line = line_;
    if (starts(text, "@")) {
      const std::size_t end = text.find_first_of(" \t");
      i.unless = text[1] == '!';
      i.guard = register_of(text.substr(i.unless ? 2 : 1, end - (i.unless ? 2 : 1)));
      text = trimmed(text.substr(end));
    }
    const std::string_view form = text.substr(0, text.find_first_of(" \t"));
    i.run = find_form(form);
    if (i.run == nullptr) complain("the form " + std::string(form) + " is not known");
    std::string_view rest = trimmed(text.substr(form.size()));
    const bool stores = starts(form, "st.");
    if (starts(form, "ld.global") || starts(form, "ld.shared") || starts(form, "st.global") ||
        starts(form, "st.shared"))
      i.access = kernel_.accesses++;
    if (starts(form, "bra")) {
      branches_.emplace_back(kernel_.code.size(), std::string(rest));
    } else if (starts(form, "ld.param")) {
      const std::size_t open = rest.find('['), close = rest.find(']');
      const auto found = parameters_.find(rest.substr(open + 1, close - open - 1));
      if (open == std::string_view::npos || found == parameters_.end()) complain("an argument that is none");
      i.to[0] = register_of(trimmed(rest.substr(0, rest.find(','))));
      i.offset = static_cast<std::int64_t>(found->second);
    } else if (!starts(form, "bar") && form != "ret") {
      std::size_t group = 0;  // the first operand is the result (of a store: the address), and so on
      while (!rest.empty()) read_operand(rest, group++, i, stores);
    }
    kernel_.code.push_back(i);
  }

  /// Takes an operand from the front: a register, a number, a symbol, [address] or {list}.
  void read_operand(std::string_view& rest, std::size_t group, Instruction& i, bool stores) {
    if (rest.front() == '[') {
      const std::size_t close = rest.find(']');
      std::string_view inside = rest.substr(1, close - 1);
      if (const std::size_t plus = inside.find('+'); plus != std::string_view::npos) {
        const std::string_view number = inside.substr(plus + 1);
        if (std::from_chars(number.data(), number.data() + number.size(), i.offset).ec != std::errc())
          complain("an address that cannot be read");
        inside = inside.substr(0, plus);
      }
      (stores ? i.to : i.from)[0] = operand(inside);
      drop(rest, close + 1);
      return;
    }
    int* const places = group == 0 && !stores ? i.to : i.from;
    if (rest.front() == '{') {
      const std::size_t close = rest.find('}');
      std::string_view list = rest.substr(1, close - 1);
      for (int k = 0; !list.empty(); ++k) {
        if (k == 4) complain("a list of more than four");
        const std::size_t end = std::min(list.find(','), list.size());
        places[k] = operand(trimmed(list.substr(0, end)));
        drop(list, end);
      }
      drop(rest, close + 1);
      return;
    }
    const std::size_t end = std::min(rest.find(','), rest.size());
    if (group > 4) complain("too many operands");
    const std::size_t index = stores || group == 0 ? 0 : group - 1;
    places[index] = operand(trimmed(rest.substr(0, end)));
    drop(rest, end);
  }

  /// Drops the front of a list and the comma behind it.
  static void drop(std::string_view& list, std::size_t length) {
    list = trimmed(list.substr(length));
    if (!list.empty() && list.front() == ',') list = trimmed(list.substr(1));
  }

  int register_of(std::string_view name) {
    if (!starts(name, "%")) complain("no register: " + std::string(name));
    return place_of(std::string(name), kGarbage);
  }

  int operand(std::string_view text) {
    if (starts(text, "%")) return register_of(text);
    if (const auto found = places_.find(std::string(text)); found != places_.end()) return found->second;
    const bool real = starts(text, "0f") || starts(text, "0d"), hexadecimal = starts(text, "0x");
    const std::string_view digits = real || hexadecimal ? text.substr(2) : text;
    Word value = 0;
    std::from_chars_result result{};
    if (real || hexadecimal || !starts(text, "-")) {
      result = std::from_chars(digits.data(), digits.data() + digits.size(), value, real || hexadecimal ? 16 : 10);
    } else {
      std::int64_t negative = 0;
      result = std::from_chars(digits.data(), digits.data() + digits.size(), negative);
      value = static_cast<Word>(negative);
    }
    if (result.ec != std::errc() || result.ptr != digits.data() + digits.size())
      complain("no operand: " + std::string(text));
    return place_of(std::string(text), value);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  char ended_by_ = ';';
  std::string statement_;
  Kernel kernel_;
  std::unordered_map<std::string, int> places_, labels_;
  std::map<std::string, std::size_t, std::less<>> parameters_;
  std::vector<std::pair<std::size_t, std::string>> branches_;
};

std::map<std::string, Kernel, std::less<>> read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) fail("no file " + path + " with PTX");
  std::stringstream text;
  text << file.rdbuf();
  return read_module(text.str());
}

}  // namespace

std::map<std::string, Kernel, std::less<>> read_module(std::string_view text) { return Reader(text).read(); }

const Kernel* find_kernel(std::string_view name, bool float64) {
  const std::string& files = options().ptx;
  if (files.empty()) return nullptr;
  static const auto modules = [&] {
    const std::size_t colon = files.find(':');
    return std::pair(read_file(files.substr(0, colon)), read_file(files.substr(colon + 1)));
  }();
  const auto& module = float64 ? modules.second : modules.first;
  const auto found = module.find(name);
  if (found == module.end()) fail("the PTX has no kernel " + std::string(name));
  return &found->second;
}

void run_thread(const Kernel& kernel, std::span<const Word> arguments) {
  if (arguments.size() != kernel.parameter_bytes.size()) fail("the PTX takes another number of arguments");
  std::vector<Word> registers = kernel.initial;
  const unsigned special[] = {thread_index.x, thread_index.y, thread_index.z, block_size.x, block_size.y, block_size.z,
                              block_index.x,  block_index.y,  block_index.z,  grid_size.x,  grid_size.y,  grid_size.z};
  std::copy(std::begin(special), std::end(special), registers.begin());
  std::vector<Word> local((kernel.local_bytes + sizeof(Word) - 1) / sizeof(Word), ~Word{0});
  Thread thread{.registers = registers.data(),
                .arguments = arguments,
                .shared = static_cast<char*>(dynamic_shared()),
                .local = reinterpret_cast<char*>(local.data()),
                .shared_bytes = kernel.shared_bytes,
                .local_bytes = kernel.local_bytes,
                .code = kernel.code.data(),
                .next = nullptr};
  std::uint64_t executed = 0;
  for (const Instruction* i = thread.code; i != nullptr; i = thread.next) {
    thread.next = i + 1;
    ++executed;
    if (i->guard < 0 || (registers[static_cast<std::size_t>(i->guard)] != 0) != i->unless) i->run(thread, *i);
  }
  if (counting()) note_instructions(executed);
}

}  // namespace cuda_emulator::ptx
