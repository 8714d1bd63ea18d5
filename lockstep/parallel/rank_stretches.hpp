#pragma once
// Who owns which stretch of a vector, and how every rank gets all of them (an all-gather).
//   R = 2^k, no more than the slots: recursive doubling, the opposite of the tree's halving; k exchanges.
//   any other R: every rank sends its stretch to all; more than kMostDirect ranks relay what they have, doubling it
//   each
//     time.

#include <cstdint>
#include <vector>

#include "lockstep/parallel/rank_reduction.hpp"
#include "lockstep/parallel/ranks.hpp"

namespace lockstep {

/// A vector of `elements` numbers, cut at multiples of `block` in its first `divisible` elements; what follows them
/// belongs to the last stretch.
struct StretchLayout {
  std::int64_t elements = 0, divisible = 0, block = 1;
};

/// A range of stretches, halved by each bit of the rank.
struct StretchRange {
  std::size_t first, last;
  StretchRange half(bool low) const {
    const std::size_t middle = (first + last) / 2;
    return low ? StretchRange{first, middle} : StretchRange{middle, last};
  }
};

class RankStretches {
 public:
  RankStretches(Ranks& ranks, std::int64_t slots, const StretchLayout& layout, RankReduction reduction);

  /// This rank's stretch; in blocks as well.
  std::int64_t first() const { return bounds_[own_]; }
  std::int64_t last() const { return bounds_[own_ + 1]; }
  std::int64_t first_block() const { return block_bounds_[own_]; }
  std::int64_t last_block() const { return block_bounds_[own_ + 1]; }
  bool owns_the_end() const { return owns_the_end_; }

  /// Every rank's stretch to every rank: of a whole vector, of one with the divisible elements only, or with one number
  /// per block.
  template <class T>
  void gather(T* vector) {
    gather_stretches(vector, bounds_);
  }
  template <class T>
  void gather_divisible(T* vector) {
    gather_stretches(vector, divisible_bounds_);
  }
  void gather_blocks(double* per_block) { gather_stretches(per_block, block_bounds_); }

  std::int64_t bytes_sent() const { return bytes_sent_; }

 protected:
  /// The stretches that this rank keeps after halving with its siblings of all bits before `bit`.
  StretchRange range_before(int bit) const;
  template <class T>
  void send(int to, const T* data, std::int64_t first, std::int64_t last);
  template <class T>
  void receive(int from, T* data, std::int64_t first, std::int64_t last);

  Ranks& ranks_;
  StretchLayout layout_;
  RankReduction reduction_;
  bool halving_, owns_the_end_;
  std::vector<std::int64_t> bounds_, divisible_bounds_, block_bounds_;  // of the stretches, in the order of the vector
  std::size_t own_;                                                     // this rank's stretch

 private:
  template <class T>
  void gather_stretches(T* data, const std::vector<std::int64_t>& bounds);
  template <class T>
  void send_to_all(T* data, const std::vector<std::int64_t>& bounds);
  template <class T>
  void relay(T* data, const std::vector<std::int64_t>& bounds);

  std::int64_t bytes_sent_ = 0;
};

}  // namespace lockstep
