#include "lockstep/core/random.hpp"

#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"

namespace lockstep {
namespace {

// High half of the 128-bit product, in 32-bit pieces: __int128 is an extension that -Wpedantic refuses.
std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t a_low = a & 0xFFFFFFFFU, a_high = a >> 32;
  const std::uint64_t b_low = b & 0xFFFFFFFFU, b_high = b >> 32;
  const std::uint64_t middle = a_high * b_low + ((a_low * b_low) >> 32);
  const std::uint64_t other = a_low * b_high + (middle & 0xFFFFFFFFU);
  return a_high * b_high + (middle >> 32) + (other >> 32);
}

}  // namespace

std::vector<std::int64_t> permutation(std::uint64_t seed, Purpose purpose, std::uint32_t epoch, std::int64_t count) {
  if (count < 0) throw Error(ErrorCode::bug, fmt::format("permutation: count must not be negative, got {}", count));
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const RandomKey key{.seed = seed, .purpose = purpose, .epoch = epoch};
  for (std::uint64_t i = order.size(); i-- > 1;) {
    const std::uint64_t j = multiply_high(random_bits(key, i), i + 1);
    std::swap(order[i], order[j]);
  }
  return order;
}

}  // namespace lockstep
