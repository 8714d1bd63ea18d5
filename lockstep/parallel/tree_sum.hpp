#pragma once
// The aligned binary tree over slots, fed one leaf at a time like a binary counter: two sums of the same level become
// one of the next, left + right. Memory: log2(leaves) + 1 vectors, whatever the number of leaves.

#include <cstdint>
#include <vector>

#include "lockstep/kernels/table.hpp"

namespace lockstep {

template <class T>
class TreeSum {
 public:
  /// For vectors of `size` elements and up to `leaves` leaves (a power of two).
  TreeSum(std::int64_t size, std::int64_t leaves);

  void clear() { depth_ = 0; }
  /// Where the next leaf is to be written; every element must be.
  T* next_leaf() { return levels_[depth_].sum.data(); }
  /// The next leaf is written: adds up what it completes.
  void push(const KernelTable<T>& kernels, KernelContext& context);
  /// The sum, after a power of two of leaves.
  T* total() { return levels_[0].sum.data(); }

 private:
  struct Node {
    AlignedBuffer<T> sum;
    int level = 0;
  };
  std::vector<Node> levels_;
  std::size_t depth_ = 0;
};

}  // namespace lockstep
