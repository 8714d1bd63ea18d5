#pragma once
// Sums over the samples and pixels of a slot in 16 virtual lanes, then the lane tree, then the slot tree.

#include "lockstep/kernels/naive/variant.hpp"
#include "lockstep/kernels/slots.hpp"

namespace lockstep::LOCKSTEP_NAIVE {

/// Image rows and columns of the pixels summed over.
struct Pixels {
  std::int64_t rows, cols;
};

/// term(row, col, s, sum) gives the lane's sum with the term of sample s and that pixel taken in.
template <class T, class Term>
T sum_over_slot(const Slots& slots, std::int64_t slot, Pixels pixels, const Term& term) {
  T lanes[kLanes] = {};
  for (std::int64_t block = slots.begin(slot); block < slots.end(slot); block += kLanes)
    for (std::int64_t row = 0; row < pixels.rows; ++row)
      for (std::int64_t col = 0; col < pixels.cols; ++col)
        for (std::int64_t l = 0; l < kLanes && block + l < slots.end(slot); ++l)
          lanes[l] = term(row, col, block + l, lanes[l]);
  return lane_tree(lanes);
}

template <class T, class Term>
T sum_over_slots(const Slots& slots, Pixels pixels, const Term& term) {
  return slot_tree([&](std::int64_t slot) { return sum_over_slot<T>(slots, slot, pixels, term); }, 0, slots.count());
}

}  // namespace lockstep::LOCKSTEP_NAIVE
