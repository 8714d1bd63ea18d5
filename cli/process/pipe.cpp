#include "cli/process/pipe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "cli/output/console.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep::cli {

namespace {

constexpr std::size_t kMostKept = std::size_t{64} << 20;
constexpr int kMomentMilliseconds = 10;
constexpr std::string_view kOwnName = "lockstep: ";

}  // namespace

Pipe::Pipe() {
  if (::pipe2(ends_.data(), O_CLOEXEC) != 0) fail_system(ExitCode::resources, "pipe", errno);
}

Pipe::~Pipe() {
  close(0);
  close(1);
}

void Pipe::close(std::size_t end) {
  if (ends_[end] >= 0) ::close(ends_[end]);
  ends_[end] = -1;
}

void Pipe::read_into(std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t got = ::read(ends_[0], buffer.data(), buffer.size());
  if (got > 0)
    text.append(buffer.data(), std::min(static_cast<std::size_t>(got), kMostKept - std::min(kMostKept, text.size())));
  else if (got == 0 || errno != EINTR)
    close(0);
}

void read_ready(Pipe& one, std::string& text_of_one, Pipe& other, std::string& text_of_other) {
  std::array<pollfd, 2> ready{{{one[0], POLLIN, 0}, {other[0], POLLIN, 0}}};
  if (::poll(ready.data(), ready.size(), kMomentMilliseconds) <= 0) return;
  if (ready[0].revents != 0) one.read_into(text_of_one);
  if (ready[1].revents != 0) other.read_into(text_of_other);
}

std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  std::string_view line = text.substr(text.rfind('\n') + 1);
  if (line.starts_with(kOwnName)) line.remove_prefix(kOwnName.size());
  return one_line(line);
}

}  // namespace lockstep::cli
