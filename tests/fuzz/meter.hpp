#pragma once
// What a reader costs: memory and processor time at most linear in the file.

#include <sanitizer/allocator_interface.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace lockstep {

/// What one byte of a file may cost, besides what an empty file may.
struct Budget {
  std::size_t bytes;        // of memory at one time
  double seconds = 100e-6;  // of processor time, under sanitizers
};
/// Numbers as text are the most wasteful: a field of one digit has a string of its own.
inline constexpr Budget kPlain{.bytes = 256};
/// A byte of deflate becomes up to 1032, which MATLAB may store as bytes of doubles; turning them takes two copies.
inline constexpr Budget kCompressed{.bytes = 2 * 8 * 1032 + 4 * 1032};

/// Counts what is allocated between its construction and check(), which ends the fuzzer where it was too much.
class Meter {
 public:
  Meter() {
    static const int installed = __sanitizer_install_malloc_and_free_hooks(&note_malloc, &note_free);
    if (installed == 0) std::abort();
    live = peak = 0;
    counting = true;
  }
  ~Meter() { counting = false; }
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  void check(std::size_t size, const Budget& budget) const {
    const double seconds = static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC;
    const auto bytes = static_cast<std::size_t>(std::max<std::ptrdiff_t>(peak, 0));
    if (bytes <= kFixedBytes + size * budget.bytes && seconds <= kFixedSeconds + double(size) * budget.seconds) return;
    std::fprintf(stderr, "a file of %zu bytes took %zu bytes of memory and %.3f s\n", size, bytes, seconds);
    std::abort();
  }

 private:
  static constexpr std::size_t kFixedBytes = std::size_t{8} << 20;
  static constexpr double kFixedSeconds = 2;
  static inline std::atomic<bool> counting = false;
  static inline std::atomic<std::ptrdiff_t> live = 0, peak = 0;

  static void note_malloc(const volatile void*, std::size_t size) {
    if (!counting) return;
    const std::ptrdiff_t now = live += static_cast<std::ptrdiff_t>(size);
    if (now > peak) peak = now;
  }
  static void note_free(const volatile void* pointer) {
    if (counting && pointer != nullptr)
      live -= static_cast<std::ptrdiff_t>(__sanitizer_get_allocated_size(const_cast<const void*>(pointer)));
  }

  std::clock_t start_ = std::clock();
};

}  // namespace lockstep
