#include "lockstep/core/system.hpp"

#include <unistd.h>

#include <array>
#include <ctime>
#include <fstream>

#include "lockstep/core/version.hpp"

namespace lockstep {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string_view version() { return LOCKSTEP_VERSION; }

}  // namespace lockstep
