#include "lockstep/kernels/opencl/devices.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <mutex>
#include <string_view>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep::opencl {

namespace {

// Written before the handler is there, since a handler may neither allocate nor lock.
std::array<char, 512> last_words;
std::size_t last_words_size = 0;

/// Of SIGABRT.
struct {
  std::mutex mutex;
  int users = 0;
  bool ours = false;
  struct sigaction before {};
} abort_handler;

void say_last_words(int) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, last_words.data(), last_words_size);
  ::_exit(static_cast<int>(ErrorCode::resources));
}

bool on_path(std::string_view tool) {
  const std::string path = environment_text("PATH").value_or("");
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (::access(fmt::format("{}/{}", rest.substr(0, end), tool).c_str(), X_OK) == 0) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

}  // namespace

void note_abort_handler() {
  struct sigaction now {};
  ::sigaction(SIGABRT, nullptr, &now);
  const std::lock_guard lock(abort_handler.mutex);
  abort_handler.ours = now.sa_handler == SIG_DFL;
}

DriverAbort::DriverAbort(const DeviceInfo& device) {
  const std::lock_guard lock(abort_handler.mutex);
  if (++abort_handler.users > 1) return;
  const std::string line = fmt::format(
      "lockstep: aborted while the OpenCL device {} was in use, most likely by its driver ({} {}), whose words "
      "may stand above: go on from the last checkpoint, on another device or with the backend simd\n",
      device.name, device.platform, device.driver);
  last_words_size = std::min(line.size(), last_words.size());
  std::memcpy(last_words.data(), line.data(), last_words_size);
  ::sigaction(SIGABRT, nullptr, &abort_handler.before);
  // In front of the driver, too: the compiler inside of it (LLVM) answers SIGABRT from the moment it is loaded.
  if (!abort_handler.ours) return;
  struct sigaction action {};
  action.sa_handler = &say_last_words;
  ::sigaction(SIGABRT, &action, nullptr);
}

DriverAbort::~DriverAbort() {
  const std::lock_guard lock(abort_handler.mutex);
  if (--abort_handler.users == 0 && abort_handler.ours) ::sigaction(SIGABRT, &abort_handler.before, nullptr);
}

std::string missing_tool(const std::string& version) {
  // Builds of PoCL that are not a distribution's may bring a linker of their own.
  if (version.find("PoCL") == std::string::npos || version.find("debian") == std::string::npos || on_path("ld"))
    return "";
  return "the linker ld, which is not on PATH (install binutils)";
}

}  // namespace lockstep::opencl
