#include "lockstep/parallel/overlapped_reduction.hpp"

#include "lockstep/lab/lap.hpp"

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
OverlappedReduction<T>::OverlappedReduction(RankTree<T>& tree, std::vector<std::int64_t> firsts, std::int64_t elements,
                                            std::vector<SlotSums<T>*> sums, const KernelTable<T>& kernels)
    : tree_(tree),
      firsts_(std::move(firsts)),
      elements_(elements),
      sums_(std::move(sums)),
      kernels_(kernels),
      arrived_(firsts_.size()) {}

template <class T>
void OverlappedReduction<T>::Thread::begin(Recorder* recorder) {
  recorder_ = recorder;
  next_ = 0;
  announced_ = false;
  seconds_ = 0;
}

template <class T>
void OverlappedReduction<T>::Thread::announce(NodeId node) {
  additions_ = sums_.announce(node);
  announced_ = true;
}

template <class T>
void OverlappedReduction<T>::Thread::complete_from(std::int64_t first) {
  Lap lap;
  Cost cost;
  for (; next_ < reduction_.firsts_.size() && reduction_.firsts_[next_] >= first; ++next_) {
    const std::int64_t from = reduction_.firsts_[next_], size = reduction_.last(next_) - from;
    if (announced_) {
      sums_.add_announced(from, size, reduction_.kernels_, context_);
      cost = cost + double(additions_) * add_cost(size, 1, sizeof(T));
    }
    cost = cost + add_cost(reduction_.arrive(next_, context_), 1, sizeof(T));
  }
  lap(seconds_);
  if (recorder_ != nullptr) recorder_->close(kReduceSection, cost.flops, cost.bytes);
}

/// A thread's sums are complete in this slice: by every thread for every slice, in their order. Returns the additions
/// of the slices that leave.
template <class T>
std::int64_t OverlappedReduction<T>::arrive(std::size_t slice, KernelContext& context) {
  const int threads = static_cast<int>(sums_.size());
  if (arrived_[slice].fetch_add(1, std::memory_order_acq_rel) + 1 < threads) return 0;
  // Messages have to leave in the same order on all ranks, whichever slice is complete first.
  const std::lock_guard lock(starting_);
  const std::int64_t before = tree_.additions();
  if (next_ == 0) nodes_ = subtrees_of<T>(sums_);
  for (; next_ < firsts_.size() && arrived_[next_].load(std::memory_order_acquire) == threads; ++next_) {
    const std::int64_t from = firsts_[next_], size = last(next_) - from;
    tree_.start(add_up<T>(nodes_, from, size, kernels_, context), from, from + size, kernels_, context);
  }
  return tree_.additions() - before;
}

template <class T>
T* OverlappedReduction<T>::finish(KernelContext& context) {
  for (std::atomic<int>& each : arrived_) each.store(0, std::memory_order_relaxed);
  next_ = 0;
  return tree_.finish(kernels_, context);
}

template class OverlappedReduction<float>;
template class OverlappedReduction<double>;

}  // namespace lockstep
