#include "lockstep/parallel/watchdog.hpp"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace lockstep {

namespace {

// Time is counted in looks, so that the time does not count in which the process itself is stopped.
constexpr std::chrono::milliseconds kLook{50};

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
  std::thread thread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

void write_line(const std::string& line) {
  const std::string whole = line + "\n";
  pollfd ready{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&ready, 1, 1000) != 1) return;
  // Nobody can be told when stderr itself fails.
  static_cast<void>(!::write(STDERR_FILENO, whole.data(), whole.size()));
}

}  // namespace lockstep
