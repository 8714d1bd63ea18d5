#include "lockstep/parallel/library_calls.hpp"

#include <pthread.h>

#include <utility>

namespace lockstep {

namespace {

// Processor seconds between two looks: a call that waits in the kernel and polls now and then uses less.
constexpr double kCallWorks = 0.001;

}  // namespace

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
