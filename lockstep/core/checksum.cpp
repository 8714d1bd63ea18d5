#include "lockstep/core/checksum.hpp"

#include <array>
#include <cstring>

#include "lockstep/core/inline.hpp"

namespace lockstep {

namespace {

constexpr std::size_t kLanesOfSum = 32, kRowBytes = kLanesOfSum * 8;

struct LaneSums {
  std::array<std::uint64_t, kLanesOfSum> first{}, second{};
};

/// Loops that compilers turn into vectors of the instruction set of the caller.
LOCKSTEP_INLINE void add_rows(LaneSums& sums, const std::byte* bytes, std::size_t rows) {
  LaneSums own = sums;
  for (; rows > 0; --rows, bytes += kRowBytes) {
    std::array<std::uint64_t, kLanesOfSum> words;
    std::memcpy(words.data(), bytes, kRowBytes);
    for (std::size_t i = 0; i < kLanesOfSum; ++i) own.first[i] += words[i];
    for (std::size_t i = 0; i < kLanesOfSum; ++i) own.second[i] += own.first[i];
  }
  sums = own;
}

using AddRows = void (*)(LaneSums&, const std::byte*, std::size_t);

void add_rows_plain(LaneSums& sums, const std::byte* bytes, std::size_t rows) { add_rows(sums, bytes, rows); }

#if defined(__x86_64__)
__attribute__((target("avx2"))) void add_rows_avx2(LaneSums& sums, const std::byte* bytes, std::size_t rows) {
  add_rows(sums, bytes, rows);
}
__attribute__((target("avx512f"))) void add_rows_avx512(LaneSums& sums, const std::byte* bytes, std::size_t rows) {
  add_rows(sums, bytes, rows);
}
AddRows best_add_rows() {
  if (__builtin_cpu_supports("avx512f")) return add_rows_avx512;
  return __builtin_cpu_supports("avx2") ? add_rows_avx2 : add_rows_plain;
}
#else
AddRows best_add_rows() { return add_rows_plain; }
#endif

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes) {
  static const AddRows add = best_add_rows();
  LaneSums sums;
  const std::size_t rows = bytes.size() / kRowBytes;
  add(sums, bytes.data(), rows);
  if (const std::span<const std::byte> rest = bytes.subspan(rows * kRowBytes); !rest.empty()) {
    std::array<std::byte, kRowBytes> last{};
    std::memcpy(last.data(), rest.data(), rest.size());
    add(sums, last.data(), 1);
  }
  // A change d of one word changes `first` by d and `second` by a multiple of d. An odd factor and an even one: the
  // sum of both products changes by an odd multiple of d, so no bit of d is lost.
  std::uint64_t folded = bytes.size();
  for (std::size_t i = 0; i < kLanesOfSum; ++i)
    folded = (folded + sums.first[i]) * 0x9E3779B97F4A7C15U + sums.second[i] * 0x85EBCA77C2B2AE3EU;
  return folded;
}

}  // namespace lockstep
