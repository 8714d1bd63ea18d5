#include "lockstep/parallel/watchdog.hpp"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <system_error>
#include <utility>

namespace lockstep {

namespace {

// Time is counted in looks, so that the time does not count in which the process itself is stopped.
constexpr std::chrono::milliseconds kLook{50};

// Processor seconds between two looks: a call that waits in the kernel and polls now and then uses less.
constexpr double kCallWorks = 0.001;

}  // namespace

Watchdog::Watchdog(std::chrono::nanoseconds limit, std::string line, int exit_code, std::function<void(int)> end,
                   std::function<bool()> hopeless)
    : thread_(start_quiet_thread([this, limit, line = std::move(line), exit_code, end = std::move(end),
                                  hopeless = std::move(hopeless)] {
        std::unique_lock lock(mutex_);
        for (std::chrono::nanoseconds waited{}; waited < limit && !(hopeless && hopeless()); waited += kLook)
          if (changed_.wait_for(lock, std::min<std::chrono::nanoseconds>(kLook, limit), [this] { return returned_; }))
            return;
        if (!line.empty()) write_line(line);
        end ? end(exit_code) : ::_exit(exit_code);
      })) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    returned_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

std::thread start_quiet_thread(std::function<void()> body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the new thread inherits it
  std::thread thread;
  std::exception_ptr refused;
  try {
    thread = std::thread(std::move(body));
  } catch (const std::system_error&) {
    refused = std::current_exception();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (refused) std::rethrow_exception(refused);
  return thread;
}

void write_line(const std::string& line) {
  const std::string whole = line + "\n";
  pollfd ready{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&ready, 1, 1000) != 1) return;
  // A failure of stderr itself cannot be reported anywhere.
  static_cast<void>(!::write(STDERR_FILENO, whole.data(), whole.size()));
}

LibraryCall::LibraryCall(LibraryCalls* calls) : calls_(calls) {
  if (calls_ == nullptr) return;
  clockid_t clock{};
  ::pthread_getcpuclockid(::pthread_self(), &clock);
  calls_->clock.store(clock, std::memory_order_relaxed);
  calls_->count.fetch_add(1, std::memory_order_release);
}

LibraryCall::~LibraryCall() {
  if (calls_ != nullptr) calls_->count.fetch_add(1, std::memory_order_release);
}

std::chrono::nanoseconds CallWatch::stuck(std::chrono::nanoseconds elapsed) {
  if (calls_ == nullptr) return {};
  const std::uint64_t count = calls_->count.load(std::memory_order_acquire);
  timespec used{};
  ::clock_gettime(calls_->clock.load(std::memory_order_relaxed),
                  &used);  // fails, and changes nothing, without a thread
  const double seconds = static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
  const bool same = std::exchange(count_, count) == count && count % 2 == 1;
  const bool works = seconds - std::exchange(seconds_, seconds) > kCallWorks;
  return stuck_ = same && !works ? stuck_ + elapsed : std::chrono::nanoseconds{};
}

}  // namespace lockstep
