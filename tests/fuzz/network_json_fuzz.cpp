// Any text as the description of a network in a model file: refused with one line, or a network that describes itself
// with the same text.

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "lockstep/core/error.hpp"
#include "lockstep/model/network_json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  std::string text;
  try {
    text = network_to_json(network_from_json({reinterpret_cast<const char*>(data), size}, "fuzz"));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::checkpoint || std::strchr(error.what(), '\n') != nullptr) std::abort();
    return 0;
  }
  if (network_to_json(network_from_json(text, "again")) != text) std::abort();
  return 0;
}
