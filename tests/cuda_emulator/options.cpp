#include "options.hpp"

#include <cstdlib>
#include <string>

#include "report.hpp"

namespace cuda_emulator {

namespace {

void apply(Options& options, const std::string& word) {
  const auto number = [&](std::size_t name_length) { return std::strtoull(word.c_str() + name_length, nullptr, 10); };
  if (word.empty() || word == "lazy") return;
  if (word == "eager")
    options.eager = true;
  else if (word == "forward")
    options.order = Order::forward;
  else if (word == "reverse")
    options.order = Order::reverse;
  else if (word == "random")
    options.order = Order::random;
  else if (word.rfind("memory=", 0) == 0)
    options.memory_bytes = static_cast<std::size_t>(number(7)) << 20;
  else if (word.rfind("devices=", 0) == 0)
    options.devices = static_cast<int>(number(8));
  else if (word.rfind("trace=", 0) == 0)
    options.trace = word.substr(6);
  else if (word == "driver=none")
    options.driver = false;
  else
    fail("LOCKSTEP_CUDA_EMULATOR: unknown word " + word);
}

Options read() {
  Options result;
  const char* text = std::getenv("LOCKSTEP_CUDA_EMULATOR");
  std::string word;
  for (const char* c = text == nullptr ? "" : text; *c != '\0'; ++c) {
    if (*c != ',') {
      word += *c;
      continue;
    }
    apply(result, word);
    word.clear();
  }
  apply(result, word);
  return result;
}

}  // namespace

const Options& options() {
  static const Options result = read();
  return result;
}

}  // namespace cuda_emulator
