#include "lockstep/model/checkpoint_writer.hpp"

#include <csignal>
#include <system_error>
#include <utility>

#include "lockstep/core/error.hpp"

namespace lockstep {

namespace {

/// Starts a thread that no signal is delivered to: they are for the training, and would break into a write here.
template <class Program>
std::thread start_undisturbed(const Program& program) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread thread(program);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (const std::system_error& error) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    fail_system(ExitCode::resources, "cannot start a thread for checkpoints", error.code().value());
  }
}

}  // namespace

CheckpointWriter::CheckpointWriter(std::function<void(const Snapshot&)> save) : save_(std::move(save)) {}

CheckpointWriter::~CheckpointWriter() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool CheckpointWriter::idle() {
  const std::lock_guard lock(mutex_);
  rethrow();
  return !next_;
}

void CheckpointWriter::hand_over(Snapshot snapshot) {
  if (!thread_.joinable()) thread_ = start_undisturbed([this] { run(); });
  {
    const std::lock_guard lock(mutex_);
    rethrow();
    if (next_) throw Error(ExitCode::bug, "checkpoint writer: one is still being saved");
    next_ = std::move(snapshot);
  }
  changed_.notify_all();
}

void CheckpointWriter::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !next_; });
  rethrow();
}

/// With the lock held.
void CheckpointWriter::rethrow() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void CheckpointWriter::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return next_ || ending_; });
    if (!next_) return;
    lock.unlock();
    std::exception_ptr failure;
    try {
      save_(*next_);  // nobody else touches it until it is reset
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    next_.reset();
    failure_ = failure;
    changed_.notify_all();
  }
}

}  // namespace lockstep
