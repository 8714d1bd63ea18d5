#pragma once
// The sums over ranks, begun while backward still runs. Backward completes the gradient from its end: layer by layer,
// slice by slice. When all members of a team have passed a slice with the last of their slots, its sums go on their way
// to the other ranks.

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "lockstep/parallel/rank_tree.hpp"

namespace lockstep {

template <class T>
class SlicedReduction {
 public:
  /// `firsts`: where slices begin, from the last one of the vector to the first, which begins at 0. The same for all
  /// ranks. `tree` must outlive it.
  SlicedReduction(RankTree<T>& tree, std::vector<std::int64_t> firsts, std::int64_t elements, int members);

  std::size_t count() const { return firsts_.size(); }
  std::int64_t first(std::size_t slice) const { return firsts_[slice]; }
  std::int64_t last(std::size_t slice) const { return slice == 0 ? elements_ : firsts_[slice - 1]; }

  /// A member's sums are complete in this slice: by every member for every slice, in their order. `subtrees` gives
  /// those of all members, and is called when all have arrived.
  void arrive(std::size_t slice, const std::function<std::vector<Subtree<T>>()>& subtrees,
              const KernelTable<T>& kernels, KernelContext& context);

  /// By one member, when all have arrived everywhere: RankTree::finish, and everything as before the first arrival.
  T* finish(const KernelTable<T>& kernels, KernelContext& context);

 private:
  RankTree<T>& tree_;
  std::vector<std::int64_t> firsts_;
  std::int64_t elements_;
  int members_;
  std::vector<std::atomic<int>> arrived_;  // by slice
  std::mutex starting_;
  std::size_t next_ = 0;             // the slice to be started next
  std::vector<Subtree<T>> nodes_{};  // of all members
};

/// Where slices begin that end at `boundaries` (ascending, from 0) and have at least `least` elements.
std::vector<std::int64_t> slices_of(const std::vector<std::int64_t>& boundaries, std::int64_t elements,
                                    std::int64_t least);

}  // namespace lockstep
