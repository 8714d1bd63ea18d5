#pragma once
// The tree over slots, across ranks: every rank has the sums of its own slots and gets one stretch of the total; after
// the optimiser's step every rank gets all stretches of the new weights. The transport adds nothing.
//
// n numbers, R ranks. A *stretch* is the part of the vector that one rank owns, about n/R.
//   R = 2^k, no more than the slots: recursive halving. Ranks r and r xor 1 are siblings in the tree: each sends the
//     half that the other one keeps, and adds; then r xor 2, with halves of halves; and so on: exactly the tree's
//     additions. Back in the opposite order, doubling what a rank holds. k exchanges each way.
//   any other R: every rank sends every other one the stretches of its subtrees, which finishes the tree for its own
//     stretch. One exchange, R - 1 messages per subtree. Then every rank sends its stretch to all; more than
//     kMostDirect ranks relay what they have, doubling it each time.
// Either way a rank sends about n (1 - 1/R) numbers per direction (docs/algorithms.md).
//
// For comparison, what programs without a tree do:
//   gather: rank 0 owns the whole vector; it receives all sums, and broadcasts the weights. The same bits.
//   library: the transport's library adds (MPI_Allreduce), and every rank owns everything. Bits of its own.

#include <cstdint>
#include <span>
#include <vector>

#include "lockstep/core/aligned.hpp"
#include "lockstep/parallel/rank_reduction.hpp"
#include "lockstep/parallel/ranks.hpp"
#include "lockstep/parallel/slot_sums.hpp"

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

/// Who owns which stretch of a vector, and how every rank gets all of them (an all-gather).
///   R = 2^k, no more than the slots: recursive doubling, the opposite of the tree's halving; k exchanges.
///   any other R: every rank sends its stretch to all; more than kMostDirect ranks relay what they have, doubling it
///   each
///     time.
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

template <class T>
class RankTree : public RankStretches {
 public:
  RankTree(Ranks& ranks, std::int64_t slots, const StretchLayout& layout,
           RankReduction reduction = RankReduction::tree);

  std::int64_t first_slot() const { return ranks_.share(slots_, ranks_.rank()); }
  std::int64_t last_slot() const { return ranks_.share(slots_, ranks_.rank() + 1); }

  /// `local` is what add_up left of this rank's slots. The total over all slots, valid in this rank's stretch; returns
  /// where element 0 of its vector lies. The vectors of `local` are overwritten. They lie where the kernels work, and
  /// so does the total: in the memory of a device if the transport takes it (Transport::takes_memory_of), but not for a
  /// library's sum. The device has done its additions when this returns.
  T* reduce(std::span<const Subtree<T>> local, const KernelTable<T>& kernels, KernelContext& context) {
    start(local, 0, layout_.elements, kernels, context);
    return finish(kernels, context);
  }
  /// The same in parts: elements [first, last) of `local` are complete and leave; until finish() they must not change.
  /// The parts make up the whole, and come in the same order on all ranks; until finish() the channel of these ranks
  /// has no other user.
  void start(std::span<const Subtree<T>> local, std::int64_t first, std::int64_t last, const KernelTable<T>& kernels,
             KernelContext& context);
  T* finish(const KernelTable<T>& kernels, KernelContext& context);

  /// Additions of one number to another that this rank has made in all.
  std::int64_t additions() const { return additions_; }

 private:
  void begin(std::span<const Subtree<T>> local, Memory& memory);
  void start_halving(std::int64_t first, std::int64_t last, int bit);
  T* finish_halving(const KernelTable<T>& kernels, KernelContext& context);
  void start_exchange(std::int64_t first, std::int64_t last);
  T* finish_exchange(const KernelTable<T>& kernels, KernelContext& context);
  std::int64_t slots_;
  AlignedBuffer<T> scratch_, total_;
  // Of the present reduction.
  bool started_ = false;
  std::vector<Subtree<T>> local_{}, nodes_{};  // of this rank; of all ranks, where subtrees are exchanged
  std::vector<int> owners_{};                  // of nodes_
  std::int64_t additions_ = 0;
};

}  // namespace lockstep
