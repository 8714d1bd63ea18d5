#include "cli/ladder/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include <fmt/format.h>

#include "cli/console.hpp"
#include "cli/process_tree.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep::cli {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kChildLook = std::chrono::milliseconds(10);
constexpr auto kPatience = std::chrono::seconds(3);  // between SIGTERM and SIGKILL
constexpr std::size_t kMostText = std::size_t{64} << 20;

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// A file without a name, for what a child says.
int nameless() {
  const int file = ::memfd_create("lockstep-ladder", MFD_CLOEXEC);
  if (file < 0) fail_system(ExitCode::resources, "ladder: a file for the output of a rung", errno);
  return file;
}

std::string text_in(int file) {
  std::string text;
  std::array<char, 65536> buffer{};
  for (off_t at = 0; text.size() < kMostText;) {
    const ssize_t got = ::pread(file, buffer.data(), buffer.size(), at);
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    at += got;
  }
  return text;
}

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  const std::size_t at = text.rfind('\n');
  std::string line = at == std::string::npos ? text : text.substr(at + 1);
  return one_line(line.starts_with("lockstep: ") ? line.substr(10) : line);
}

/// Ends the whole process group: politely, so that mpirun takes its ranks along, then not.
void end_group(pid_t child) {
  ::kill(-child, SIGTERM);
  const auto limit = Clock::now() + kPatience;
  while (!ended(child)) {
    if (Clock::now() > limit) {
      ::kill(-child, SIGKILL);
      ::waitpid(child, nullptr, 0);
      return;
    }
    std::this_thread::sleep_for(kChildLook);
  }
  ::kill(-child, SIGKILL);  // whoever of them is left
}

struct Descriptor {
  int number = -1;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

}  // namespace

ChildEnd run_child(const std::vector<std::string>& words, const Environment& environment, double seconds,
                   const Stopped& stopped) {
  const Descriptor out{nameless()}, err{nameless()};
  const pid_t child = start_process(words, environment, {.out = out.number, .err = err.number});
  const auto limit = after(seconds);
  std::optional<int> code;
  while (!(code = ended(child))) {
    const bool stop = stopped && stopped();
    if (stop || Clock::now() > limit) {
      end_group(child);
      if (stop) throw Error(ExitCode::preempted, "stopped by a signal");
      throw Error(ExitCode::peer_lost, fmt::format("it took longer than {:.0f} s and was ended", seconds));
    }
    std::this_thread::sleep_for(kChildLook);
  }
  return {*code, text_in(out.number), last_line(text_in(err.number))};
}

Conversation::Conversation(const std::vector<std::string>& words, const Environment& environment, double seconds,
                           Stopped stopped)
    : stopped_(std::move(stopped)) {
  std::array<int, 2> in{}, out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0) fail_system(ExitCode::resources, "ladder: a pipe", errno);
  if (::pipe2(out.data(), O_CLOEXEC) != 0) fail_system(ExitCode::resources, "ladder: a pipe", errno);
  errors_ = nameless();
  child_ = start_process(words, environment, {.out = out[1], .err = errors_, .in = in[0]});
  ::close(in[0]);
  ::close(out[1]);
  to_ = in[1];
  from_ = out[0];
  try {
    greeting_ = answer(seconds);
  } catch (...) {
    end();
    throw;
  }
}

Conversation::~Conversation() { end(); }

void Conversation::end() {
  if (child_ > 0) end_group(child_);
  for (int* each : {&to_, &from_, &errors_}) {
    if (*each >= 0) ::close(*each);
    *each = -1;
  }
  child_ = -1;
}

std::string Conversation::last_words() const {
  const std::string words = last_line(text_in(errors_));
  return words.empty() ? "it ended" : words;
}

Json Conversation::ask(const std::string& command, double seconds) {
  const std::string line = command + "\n";
  if (::write(to_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw Error(ExitCode::peer_lost, last_words());
  return answer(seconds);
}

Json Conversation::answer(double seconds) {
  const auto limit = after(seconds);
  while (pending_.find('\n') == std::string::npos) {
    if (stopped_ && stopped_()) throw Error(ExitCode::preempted, "stopped by a signal");
    if (Clock::now() > limit) throw Error(ExitCode::peer_lost, fmt::format("no answer within {:.0f} s", seconds));
    pollfd waiting{from_, POLLIN, 0};
    if (::poll(&waiting, 1, 50) <= 0) continue;
    std::array<char, 4096> buffer{};
    const ssize_t got = ::read(from_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || pending_.size() > kMostText) throw Error(ExitCode::peer_lost, last_words());
    pending_.append(buffer.data(), static_cast<std::size_t>(got));
  }
  const std::size_t end = pending_.find('\n');
  const std::string line = pending_.substr(0, end);
  pending_.erase(0, end + 1);
  Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) throw Error(ExitCode::peer_lost, "it answered with something else than JSON");
  return json;
}

}  // namespace lockstep::cli
