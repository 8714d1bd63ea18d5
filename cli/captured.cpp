#include "cli/captured.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include <fmt/format.h>

#include "cli/console.hpp"
#include "cli/process_tree.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep::cli {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMostKept = std::size_t{64} << 20;
constexpr int kPollMilliseconds = 20;  // milliseconds

/// Both ends of a pipe, closed when they are no longer needed.
class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) fail_system(ExitCode::resources, "pipe", errno);
  }
  ~Pipe() {
    close(0);
    close(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int operator[](std::size_t end) const { return ends_[end]; }
  bool open() const { return ends_[0] >= 0; }
  void close(std::size_t end) {
    if (ends_[end] >= 0) ::close(ends_[end]);
    ends_[end] = -1;
  }
  /// Adds what has arrived; closes at the end of the stream.
  void read_into(std::string& text) {
    std::array<char, 65536> buffer;
    const ssize_t got = ::read(ends_[0], buffer.data(), buffer.size());
    if (got > 0)
      text.append(buffer.data(), std::min(static_cast<std::size_t>(got), kMostKept - std::min(kMostKept, text.size())));
    else if (got == 0 || errno != EINTR)
      close(0);
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

/// Reads both streams until they end or the time is up; true when they ended.
bool read_both(Pipe& out, Pipe& err, Captured& result, Clock::time_point end) {
  while (out.open() || err.open()) {
    std::array<pollfd, 2> ready{{{out[0], POLLIN, 0}, {err[0], POLLIN, 0}}};
    if (Clock::now() > end) return false;
    if (::poll(ready.data(), ready.size(), kPollMilliseconds) <= 0) continue;
    if (ready[0].revents != 0) out.read_into(result.out);
    if (ready[1].revents != 0) err.read_into(result.err);
  }
  return true;
}

}  // namespace

std::string Captured::reason() const {
  if (timed_out) return "it did not end in time and was stopped";
  if (code == 127) return "it cannot be started";
  std::string_view text = err;
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  const std::string_view last = text.substr(text.rfind('\n') + 1);
  return last.empty() ? fmt::format("it ended with {}", code) : one_line(last);
}

Captured run_captured(const std::vector<std::string>& words, const CaptureOptions& options) {
  Pipe out, err;
  const pid_t child = start_process(words, options.environment, {.out = out[1], .err = err[1]});
  out.close(1);
  err.close(1);
  Captured result;
  const auto end = Clock::now() + options.patience;
  int status = 0;
  bool ended = read_both(out, err, result, end);
  // It may close its streams and go on.
  while (ended && ::waitpid(child, &status, WNOHANG) == 0) {
    ended = Clock::now() < end;
    ::poll(nullptr, 0, 2);
  }
  ::kill(-child, SIGKILL);  // and what it left behind
  if (!ended) {
    ::waitpid(child, &status, 0);
    result.timed_out = true;
  }
  result.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace lockstep::cli
