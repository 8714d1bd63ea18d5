#include "cli/process/process_tree.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::milliseconds kPause{20};
constexpr std::chrono::seconds kPolite{3};  // between SIGTERM and SIGKILL
constexpr std::size_t kMostKept = std::size_t{64} << 20;
constexpr int kMomentMilliseconds = 10;
constexpr std::string_view kOwnName = "lockstep: ";

void collect(pid_t parent, std::vector<pid_t>& found) {
  std::error_code error;
  // Every thread has children of its own.
  for (fs::directory_iterator task(fmt::format("/proc/{}/task", parent), error), end; !error && task != end;
       task.increment(error)) {
    std::ifstream children(task->path() / "children");
    for (pid_t child = 0; children >> child;) {
      found.push_back(child);
      collect(child, found);
    }
  }
}

/// Between fork and exec: only what a signal handler may do.
[[noreturn]] void become(char* const* words, char* const* environment, pid_t parent, const Streams& streams) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);  // it died before it could be watched
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ}) ::signal(number, SIG_DFL);
  // Never the input of this process: a process group in the background that reads from the terminal is stopped.
  ::dup2(streams.in >= 0 ? streams.in : ::open("/dev/null", O_RDONLY), STDIN_FILENO);
  if (streams.out >= 0) ::dup2(streams.out, STDOUT_FILENO);
  if (streams.err >= 0) ::dup2(streams.err, STDERR_FILENO);
  ::execvpe(words[0], words, environment);
  ::_exit(127);
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

pid_t start_process(const std::vector<std::string>& words, const Environment& more, const Streams& streams) {
  std::vector<std::string> variables;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view text = *each;
    const auto replaces = [&](const auto& pair) { return text.starts_with(pair.first + "="); };
    if (std::none_of(more.begin(), more.end(), replaces)) variables.emplace_back(text);
  }
  for (const auto& [name, value] : more) variables.push_back(fmt::format("{}={}", name, value));
  const std::vector<char*> arguments = pointers_to(words), environment = pointers_to(variables);
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) fail_system(ErrorCode::resources, words[0], errno);
  if (child == 0) become(arguments.data(), environment.data(), self, streams);
  ::setpgid(child, child);  // parent and child both do it: the first one counts
  return child;
}

std::optional<int> ended(pid_t child) {
  int status = 0;
  const pid_t got = ::waitpid(child, &status, WNOHANG);
  if (got == 0 || (got < 0 && errno == EINTR)) return std::nullopt;
  if (got < 0) return 128 + SIGKILL;  // not a child any more
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int end_group(pid_t child) {
  ::kill(-child, SIGTERM);
  ::kill(-child, SIGCONT);  // a stopped process does not see SIGTERM
  const auto limit = Clock::now() + kPolite;
  std::optional<int> code;
  while (!(code = ended(child)) && Clock::now() < limit) std::this_thread::sleep_for(kPause);
  ::kill(-child, SIGKILL);  // what is left of the group
  while (!code) {
    std::this_thread::sleep_for(kPause);
    code = ended(child);
  }
  return *code;
}

std::vector<pid_t> descendants() {
  std::vector<pid_t> found;
  collect(::getpid(), found);
  return found;
}

std::vector<pid_t> ranks_below() {
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error);
  std::vector<pid_t> found;
  for (const pid_t each : descendants())
    if (fs::read_symlink(fmt::format("/proc/{}/exe", each), error) == own) found.push_back(each);
  return found;
}

bool kill_descendants(std::chrono::milliseconds patience) {
  const auto end = Clock::now() + patience;
  while (true) {
    const std::vector<pid_t> left = descendants();
    for (const pid_t each : left) ::kill(each, SIGKILL);
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (left.empty()) return true;
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(kPause);
  }
}

bool succeeds(const std::vector<std::string>& words, std::chrono::milliseconds patience) {
  const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  const pid_t child = start_process(words, {}, {.out = nothing, .err = nothing});
  ::close(nothing);
  const auto end = Clock::now() + patience;
  std::optional<int> code;
  while (!(code = ended(child)) && Clock::now() < end) std::this_thread::sleep_for(kPause);
  if (code) return *code == 0;
  ::kill(-child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return false;
}

Pipe::Pipe() {
  if (::pipe2(ends_.data(), O_CLOEXEC) != 0) fail_system(ErrorCode::resources, "pipe", errno);
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
