#include "cli/output/console.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <fmt/format.h>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep::cli {

namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";

/// Returns 0 or the error number.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

bool capable_terminal() { return ::isatty(STDERR_FILENO) == 1 && environment_text("TERM").value_or("dumb") != "dumb"; }

}  // namespace

Console::Console(ConsoleOptions options) : options_(options) {
  animated_ = !options.quiet && capable_terminal();
  coloured_ = animated_ && !environment_text("NO_COLOR");
}

int Console::width() const {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void Console::print(std::string_view text) {
  draw("");
  const int error = write_all(STDOUT_FILENO, text);
  if (error != 0 && error != EPIPE) fail_system(ErrorCode::resources, "standard output", error);
}

void Console::note(std::string_view line) {
  if (!options_.quiet) fail(line);
}

void Console::fail(std::string_view line) {
  draw("");
  // Nobody can be told when stderr itself fails.
  static_cast<void>(write_all(STDERR_FILENO, fmt::format("{}\n", line)));
}

void Console::draw(std::string_view line) {
  if (!animated_ || (line.empty() && !drawn_)) return;
  static_cast<void>(write_all(STDERR_FILENO, fmt::format("{}{}", kEraseLine, line)));
  drawn_ = !line.empty();
}

void prepare_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    // open() takes the lowest free number, and those below are taken by now.
    if (::open("/dev/null", O_RDWR) != descriptor) std::_Exit(static_cast<int>(ErrorCode::resources));
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace lockstep::cli
