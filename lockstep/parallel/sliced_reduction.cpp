#include "lockstep/parallel/sliced_reduction.hpp"

namespace lockstep {

std::vector<std::int64_t> slices_of(const std::vector<std::int64_t>& boundaries, std::int64_t elements,
                                    std::int64_t least) {
  std::vector<std::int64_t> firsts;
  std::int64_t last = elements;
  for (const std::int64_t first : std::vector(boundaries.rbegin(), boundaries.rend())) {
    if (first == 0 || last - first < least) continue;
    firsts.push_back(first);
    last = first;
  }
  firsts.push_back(0);
  return firsts;
}

template <class T>
SlicedReduction<T>::SlicedReduction(RankTree<T>& tree, std::vector<std::int64_t> firsts, std::int64_t elements,
                                    int members)
    : tree_(tree), firsts_(std::move(firsts)), elements_(elements), members_(members), arrived_(firsts_.size()) {}

template <class T>
void SlicedReduction<T>::arrive(std::size_t slice, const std::function<std::vector<Subtree<T>>()>& subtrees,
                                const KernelTable<T>& kernels, KernelContext& context) {
  if (arrived_[slice].fetch_add(1, std::memory_order_acq_rel) + 1 < members_) return;
  // Messages have to leave in the same order everywhere, whoever completes a slice first.
  const std::lock_guard lock(starting_);
  if (next_ == 0) nodes_ = subtrees();
  for (; next_ < count() && arrived_[next_].load(std::memory_order_acquire) == members_; ++next_) {
    const std::int64_t from = first(next_), size = last(next_) - from;
    tree_.start(add_up<T>(nodes_, from, size, kernels, context), from, from + size, kernels, context);
  }
}

template <class T>
T* SlicedReduction<T>::finish(const KernelTable<T>& kernels, KernelContext& context) {
  for (std::atomic<int>& each : arrived_) each.store(0, std::memory_order_relaxed);
  next_ = 0;
  return tree_.finish(kernels, context);
}

template class SlicedReduction<float>;
template class SlicedReduction<double>;

}  // namespace lockstep
