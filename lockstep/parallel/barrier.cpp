#include "lockstep/parallel/barrier.hpp"

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lockstep {

namespace {

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

}  // namespace

void Barrier::spin(std::uint32_t round) const {
  using Clock = std::chrono::steady_clock;
  constexpr int kLooks = 32;  // between two looks at the clock
  for (const auto end = Clock::now() + spin_; Clock::now() < end;)
    for (int i = 0; i < kLooks; ++i) {
      if (round_.load(std::memory_order_acquire) != round) return;
      pause();
    }
}

#if defined(__linux__)

// Not std::atomic::wait: it yields the core before it sleeps, and who yields to a program that computes waits until its
// time is up, some milliseconds; who sleeps and is woken goes first.
void Barrier::sleep(std::uint32_t round) {
  if (round_.load(std::memory_order_acquire) != round) return;
  sleepers_.fetch_add(1);
  while (round_.load() == round) ::syscall(SYS_futex, &round_, FUTEX_WAIT_PRIVATE, round, nullptr, nullptr, 0);
  sleepers_.fetch_sub(1);
}

void Barrier::wake() {
  if (sleepers_.load() > 0) ::syscall(SYS_futex, &round_, FUTEX_WAKE_PRIVATE, threads_, nullptr, nullptr, 0);
}

#else

void Barrier::sleep(std::uint32_t round) { round_.wait(round); }
void Barrier::wake() { round_.notify_all(); }

#endif

void Barrier::wait() {
  const std::uint32_t round = round_.load(std::memory_order_acquire);
  if ((round & kFailed) != 0) throw TeamFailed{};
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
    arrived_.store(0, std::memory_order_relaxed);
    // A failure may set its bit meanwhile: add, never store.
    round_.fetch_add(1);
    wake();
  } else {
    spin(round);
    sleep(round);
  }
  if ((round_.load(std::memory_order_acquire) & kFailed) != 0) throw TeamFailed{};
}

void Barrier::fail() {
  round_.fetch_or(kFailed);
  wake();
}

}  // namespace lockstep
