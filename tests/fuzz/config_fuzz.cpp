// Any text: refused with one line, or a configuration whose resolved text is the same configuration. A first line that
// begins with '!' is an assignment of --set.

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "lockstep/config/config.hpp"
#include "lockstep/core/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> overrides;
  if (text.starts_with('!')) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    overrides.emplace_back(text.substr(1, end - 1));
    text.remove_prefix(end);
  }
  std::string resolved;
  try {
    resolved = resolved_toml(parse_config(text, "fuzz.toml", overrides));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::usage) std::abort();
    return 0;
  }
  // What was accepted must be accepted again, with nothing changed.
  if (resolved_toml(parse_config(resolved, "resolved.toml")) != resolved) std::abort();
  return 0;
}
