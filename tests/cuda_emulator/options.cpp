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
  else if (word.rfind("ptx=", 0) == 0)
    options.ptx = word.substr(4);
  else if (word.rfind("sample=", 0) == 0)
    options.sample = static_cast<std::size_t>(number(7));
  else if (word.rfind("sms=", 0) == 0)
    options.multiprocessors = static_cast<int>(number(4));
  else if (word.rfind("sm=", 0) == 0)
    options.capability = static_cast<int>(number(3));
  else if (word.rfind("taken=", 0) == 0)
    options.taken_bytes = static_cast<std::size_t>(number(6)) << 20;
  else if (word.rfind("stack=", 0) == 0)
    options.stack_bytes = static_cast<std::size_t>(number(6));
  else if (word.rfind("lose=", 0) == 0 && word.find('/') != std::string::npos) {
    options.lose_at = number(5);
    options.lose_error = static_cast<int>(number(word.find('/') + 1));
  } else if (word == "image=none")
    options.image = false;
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
