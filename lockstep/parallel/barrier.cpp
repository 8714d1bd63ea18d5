#include "lockstep/parallel/barrier.hpp"

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

void Barrier::wait() {
  const std::uint32_t round = round_.load(std::memory_order_acquire);
  if ((round & kFailed) != 0) throw TeamFailed{};
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
    arrived_.store(0, std::memory_order_relaxed);
    // A failure may set its bit meanwhile: add, never store.
    round_.fetch_add(1, std::memory_order_acq_rel);
    round_.notify_all();
  } else {
    spin(round);
    round_.wait(round, std::memory_order_acquire);
  }
  if ((round_.load(std::memory_order_acquire) & kFailed) != 0) throw TeamFailed{};
}

void Barrier::fail() {
  round_.fetch_or(kFailed, std::memory_order_acq_rel);
  round_.notify_all();
}

}  // namespace lockstep
