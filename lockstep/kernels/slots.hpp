#pragma once
// Slots and the two fixed trees: where the order of every sum over samples is decided.
//
// A batch is cut by position into S slots, S a power of two from the configuration (never from the machine).
// A *chunk* is the group of consecutive slots that a worker carries through the network at one time: an aligned
// group of a power of two of them, so that the sum over a chunk is a node of the tree over all slots.
// Within a slot, sums over samples and pixels run in kLanes *virtual lanes*: sample j of the slot belongs to
// lane j mod 16 on every machine, whatever its registers hold.

#include <cstdint>
#include <span>
#include <vector>

#include "lockstep/core/inline.hpp"

namespace lockstep {

inline constexpr std::int64_t kLanes = 16;
inline constexpr std::int64_t kMaxSlots = 4096;
inline constexpr std::int64_t kMaxAutoSlots = 64;

/// The columns of a chunk cut into slots: slot k is columns [bounds[k], bounds[k+1]). Slots may be empty.
struct Slots {
  std::span<const std::int64_t> bounds;

  LOCKSTEP_INLINE std::int64_t count() const { return static_cast<std::int64_t>(bounds.size()) - 1; }
  LOCKSTEP_INLINE std::int64_t begin(std::int64_t slot) const { return bounds[static_cast<std::size_t>(slot)]; }
  LOCKSTEP_INLINE std::int64_t end(std::int64_t slot) const { return bounds[static_cast<std::size_t>(slot + 1)]; }
  LOCKSTEP_INLINE std::int64_t size(std::int64_t slot) const { return end(slot) - begin(slot); }
};

/// `auto`: the largest power of two not above batch/16, at least 1, at most 64.
std::int64_t auto_slots(std::int64_t batch);

/// The slots + 1 bounds of a batch: in units of 16 samples where there are enough (so lanes are full), else of the
/// largest power of two that still gives every slot something; units spread evenly. Depends on the two counts only.
std::vector<std::int64_t> cut_into_slots(std::int64_t samples, std::int64_t slots);

/// The aligned binary tree over the slots of a chunk: node = left + right; the count is a power of two.
/// leaf(slot) gives one slot's sum: 0 for an empty one.
template <class Leaf>
auto slot_tree(const Leaf& leaf, std::int64_t first, std::int64_t count) -> decltype(leaf(first)) {
  if (count == 1) return leaf(first);
  const auto left = slot_tree(leaf, first, count / 2);
  const auto right = slot_tree(leaf, first + count / 2, count / 2);
  return left + right;
}

/// The aligned binary tree over any number of numbers: the left branch takes the largest power of two below the count.
double block_tree(std::span<const double> leaves);

/// The fixed tree over the 16 lanes: lane l += lane l + 8, then + 4, + 2, + 1.
template <class T>
LOCKSTEP_INLINE T lane_tree(T (&lanes)[kLanes]) {
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2)
    for (std::int64_t l = 0; l < half; ++l) lanes[l] = lanes[l] + lanes[l + half];
  return lanes[0];
}

}  // namespace lockstep
