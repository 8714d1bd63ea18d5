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

/// Eight words, in whatever registers the instruction set of the caller has.
using Words = std::uint64_t __attribute__((vector_size(64)));

LOCKSTEP_INLINE void add_rows(LaneSums& sums, const std::byte* bytes, std::size_t rows) {
  constexpr std::size_t kParts = kRowBytes / sizeof(Words);
  Words first[kParts], second[kParts];
  std::memcpy(first, sums.first.data(), sizeof first);
  std::memcpy(second, sums.second.data(), sizeof second);
  for (; rows > 0; --rows, bytes += kRowBytes) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kParts; ++i) {
      Words words;
      std::memcpy(&words, bytes + i * sizeof words, sizeof words);
      first[i] += words;
      second[i] += first[i];
    }
  }
  std::memcpy(sums.first.data(), first, sizeof first);
  std::memcpy(sums.second.data(), second, sizeof second);
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
  // sum of both products changes by an odd multiple of d, so no bit of d is lost. Four chains: one alone would take
  // longer than the sums of a block of 4 KiB.
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15U, kEven = 0x85EBCA77C2B2AE3EU;
  std::array<std::uint64_t, 4> chains{bytes.size()};
  for (std::size_t i = 0; i < kLanesOfSum; i += chains.size())
    for (std::size_t c = 0; c < chains.size(); ++c)
      chains[c] = (chains[c] + sums.first[i + c]) * kOdd + sums.second[i + c] * kEven;
  std::uint64_t folded = 0;
  for (const std::uint64_t chain : chains) folded = folded * kOdd + chain;
  return folded;
}

}  // namespace lockstep
