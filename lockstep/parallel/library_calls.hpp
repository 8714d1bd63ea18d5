#pragma once
// Calls into a library that should return at once and might not: who makes them says so, and another thread notices
// when one of them does not come back (heartbeat.hpp).

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace lockstep {

/// One call at a time.
struct LibraryCalls {
  std::atomic<std::uint64_t> count{0};  // of their beginnings and ends: odd inside a call
  std::atomic<clockid_t> clock{};       // the processor time of the thread inside
};

/// Stands for one call while it lives; null: not watched.
class LibraryCall {
 public:
  explicit LibraryCall(LibraryCalls* calls);
  ~LibraryCall();
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;

 private:
  LibraryCalls* calls_;
};

/// Looks at the calls again and again, from a thread of its own.
class CallWatch {
 public:
  explicit CallWatch(const LibraryCalls* calls) : calls_(calls) {}

  /// How long the present call has neither returned nor used its processor; `elapsed` has gone by since the last look.
  std::chrono::nanoseconds stuck(std::chrono::nanoseconds elapsed);

 private:
  const LibraryCalls* calls_;
  std::uint64_t count_ = 0;
  double seconds_ = 0;
  std::chrono::nanoseconds stuck_{};
};

}  // namespace lockstep
