#pragma once
// Gradients of slots, and the tree over them, for the tests of the tree.

#include <cstdint>

#include "lockstep/core/random.hpp"
#include "lockstep/parallel/slot_sums.hpp"

namespace lockstep {

inline float leaf(std::int64_t slot, std::int64_t element) {
  const RandomKey key{.seed = 5, .sample = static_cast<std::uint64_t>(slot)};
  return static_cast<float>(uniform(key, static_cast<std::uint64_t>(element)) * 2e4 - 1e4);
}

/// The sum over `count` slots from `first` on, a subtree.
inline float subtree_sum(std::int64_t element, std::int64_t first, std::int64_t count) {
  return slot_tree([&](std::int64_t s) { return leaf(s, element); }, first, count);
}

}  // namespace lockstep
