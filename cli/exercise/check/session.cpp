#include "cli/exercise/check/session.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"

namespace lockstep::cli {

namespace {

constexpr std::size_t kPage = 4096;

std::size_t in_pages(std::int64_t bytes) { return (static_cast<std::size_t>(bytes) + kPage - 1) / kPage * kPage; }

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

SharedBlock& block_of(std::byte* memory) { return *reinterpret_cast<SharedBlock*>(memory); }

}  // namespace

RunnerSession::RunnerSession(RunnerStart start) : start_(std::move(start)) {
  file_ = ::memfd_create("lockstep-exercise", 0);
  if (file_ < 0) fail_system(ErrorCode::resources, "memory shared with the student's process", errno);
  make_room(kHeaderBytes);
  ::fcntl(answers_[1], F_SETFD, 0);  // the child inherits it
  std::vector<std::string> words = start_.words;
  words.push_back(std::to_string(file_));
  words.push_back(std::to_string(answers_[1]));
  words.push_back(std::to_string(start_.memory_bytes));
  child_ = start_process(words, start_.environment, {.out = out_[1], .err = err_[1], .in = commands_[0]});
  commands_.close(0);
  answers_.close(1);
  out_.close(1);
  err_.close(1);
}

RunnerSession::~RunnerSession() {
  end();
  if (memory_ != nullptr) ::munmap(memory_, memory_bytes_);
  if (file_ >= 0) ::close(file_);
}

void RunnerSession::end() {
  if (child_ <= 0) return;
  ::kill(-child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
  child_ = -1;
}

void RunnerSession::make_room(std::size_t bytes) {
  if (bytes <= memory_bytes_) return;
  if (::ftruncate(file_, static_cast<off_t>(bytes)) != 0)
    fail_system(ErrorCode::resources, "memory shared with the student's process", errno);
  if (memory_ != nullptr) ::munmap(memory_, memory_bytes_);
  void* const got = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (got == MAP_FAILED) fail_system(ErrorCode::resources, "memory shared with the student's process", errno);
  memory_ = static_cast<std::byte*>(got);
  memory_bytes_ = bytes;
}

std::byte* RunnerSession::array_memory(std::size_t which) {
  const SharedArray& array = placed_[which];  // never what the student's process may have written there
  const std::size_t before = array.at_end != 0 ? in_pages(static_cast<std::int64_t>(array.bytes)) - array.bytes : 0;
  return memory_ + array.file_offset + before;
}

CallOutcome RunnerSession::place(const CaseArguments& arguments, bool at_end) {
  std::size_t bytes = kHeaderBytes;
  for (const auto& array : arguments.arrays()) bytes += in_pages(array.size_bytes());
  make_room(bytes);
  SharedBlock& block = block_of(memory_);
  std::memcpy(block.arguments, arguments.get(), arguments.exercise().struct_bytes);
  block.argument_bytes = static_cast<std::uint32_t>(arguments.exercise().struct_bytes);
  placed_.clear();
  std::size_t offset = kHeaderBytes;
  for (const auto& array : arguments.arrays()) {
    if (!array.given) continue;
    placed_.push_back({.file_offset = offset,
                       .bytes = static_cast<std::uint64_t>(array.size_bytes()),
                       .argument = static_cast<std::uint32_t>(array.field->offset),
                       .writable = array.field->written() ? 1U : 0U,
                       .at_end = at_end ? 1U : 0U,
                       .unused = 0});
    offset += in_pages(array.size_bytes());
  }
  block.arrays = static_cast<std::uint32_t>(placed_.size());
  std::copy(placed_.begin(), placed_.end(), block.array);
  return ask(kMapArrays);
}

CallOutcome RunnerSession::call(CaseArguments& arguments) {
  // The numbers in the struct may be others than those of the case that was placed; the arrays are the same.
  SharedBlock& block = block_of(memory_);
  std::memcpy(block.arguments, arguments.get(), arguments.exercise().struct_bytes);
  std::size_t which = 0;
  for (const auto& array : arguments.arrays()) {
    if (!array.given) continue;
    if (array.size_bytes() > 0)
      std::memcpy(array_memory(which), array.bytes.data(), static_cast<std::size_t>(array.size_bytes()));
    ++which;
  }
  CallOutcome outcome = ask(kCallKernel);
  if (outcome.ok()) copy_out(arguments, outcome);
  return outcome;
}

void RunnerSession::copy_out(CaseArguments& arguments, CallOutcome& outcome) {
  std::size_t which = 0;
  for (auto& array : arguments.arrays()) {
    if (!array.given) continue;
    const std::byte* const from = array_memory(which++);
    if (array.size_bytes() == 0) continue;
    const auto bytes = static_cast<std::size_t>(array.size_bytes());
    if (array.field->written()) {
      std::memcpy(array.bytes.data(), from, bytes);
    } else if (std::memcmp(array.bytes.data(), from, bytes) != 0) {
      std::size_t at = 0;
      while (array.bytes.data()[at] == from[at]) ++at;
      outcome.changed = element_name(array, static_cast<std::int64_t>(at) / element_bytes(array.field->element));
    }
  }
}

void RunnerSession::wait_and_copy(CaseArguments& arguments, double seconds) {
  if (!alive()) return;
  resume();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop();
  CallOutcome ignored;
  if (alive()) copy_out(arguments, ignored);
}

int RunnerSession::threads() const {
  std::error_code error;
  int count = 0;
  for (std::filesystem::directory_iterator task(fmt::format("/proc/{}/task", child_), error), last;
       !error && task != last; task.increment(error))
    ++count;
  return count;
}

void RunnerSession::stop() {
  if (!alive() || stopped_) return;
  ::kill(child_, SIGSTOP);
  int status = 0;
  if (::waitpid(child_, &status, WUNTRACED) == child_ && !WIFSTOPPED(status)) {
    child_ = -1;  // it ended
    return;
  }
  stopped_ = true;
}

void RunnerSession::resume() {
  if (!stopped_) return;
  stopped_ = false;
  ::kill(child_, SIGCONT);
}

CallOutcome RunnerSession::ask(RunnerOp op) {
  CallOutcome outcome;
  if (!alive()) {
    outcome.end = CallOutcome::End::exited;
    return outcome;
  }
  SharedBlock& block = block_of(memory_);
  block.op = op;
  block.number = ++number_ * 2654435761U;
  block.signal = block.system_call = block.in_kernel = 0;
  block.array_hit = -1;
  pollfd early{answers_[0], POLLIN, 0};
  if (::poll(&early, 1, 0) > 0 && (early.revents & POLLIN) != 0) {
    outcome.end = CallOutcome::End::forged;
    return outcome;
  }
  const std::uint32_t number = block.number;
  const char byte = 1;
  static_cast<void>(!::write(commands_[1], &byte, 1));
  const auto from = Clock::now();
  resume();
  return wait_for_answer(number, from);
}

CallOutcome RunnerSession::wait_for_answer(std::uint32_t number, Clock::time_point from) {
  CallOutcome outcome;
  while (true) {
    std::array<pollfd, 3> ready{{{answers_[0], POLLIN, 0}, {out_[0], POLLIN, 0}, {err_[0], POLLIN, 0}}};
    ::poll(ready.data(), ready.size(), 100);
    const double seconds = seconds_since(from);
    if ((ready[0].revents & POLLIN) != 0) {
      std::uint32_t answer = 0;
      const bool right = ::read(answers_[0], &answer, sizeof answer) == sizeof answer && answer == number;
      stop();
      outcome.seconds = seconds;
      if (!right) outcome.end = CallOutcome::End::forged;
      if (right && block_of(memory_).in_kernel != 0) outcome.end = CallOutcome::End::forged;
      return outcome;
    }
    if (ready[1].revents != 0) out_.read_into(printed_);
    if (ready[2].revents != 0) err_.read_into(said_);
    int status = 0;
    const pid_t gone = ::waitpid(child_, &status, WNOHANG);
    if (gone == child_ || gone < 0) {
      ended_by(gone < 0 ? 0 : status, outcome);
      return outcome;
    }
    if (seconds > start_.call_seconds) {
      outcome.end = CallOutcome::End::too_long;
      end();
      return outcome;
    }
  }
}

void RunnerSession::ended_by(int status, CallOutcome& outcome) {
  const pid_t group = child_;
  child_ = -1;
  ::kill(-group, SIGKILL);
  for (const auto limit = Clock::now() + kLastWords; (out_.open() || err_.open()) && Clock::now() < limit;)
    read_ready(out_, printed_, err_, said_);
  outcome.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  outcome.block = block_of(memory_);
  outcome.said = said_;
  if (outcome.code == 128 + SIGSYS && outcome.block.system_call == 0) outcome.block.system_call = -1;
  const bool sanitizer =
      said_.find("Sanitizer") != std::string::npos || said_.find("runtime error:") != std::string::npos;
  if (outcome.block.system_call != 0)
    outcome.end = CallOutcome::End::forbidden;
  else if (outcome.code >= 128 || sanitizer || outcome.block.signal != 0)
    outcome.end = CallOutcome::End::crashed;
  else
    outcome.end = CallOutcome::End::exited;
}

}  // namespace lockstep::cli
