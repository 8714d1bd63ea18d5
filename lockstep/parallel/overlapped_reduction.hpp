#pragma once
// The reduction over ranks, overlapped with backward. It is the one call that goes up in a step:
//
//   Sequence::backward -> GradientWatch::complete_from -> OverlappedReduction::Thread -> RankTree::start
//
// Backward completes the gradient from its end: layer by layer, slice by slice. When all threads of the team have
// passed a slice with the last of their slots, the sums of the slice leave for the other ranks.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "lockstep/lab/recorder.hpp"
#include "lockstep/nn/layer.hpp"
#include "lockstep/parallel/rank_tree.hpp"

namespace lockstep {

template <class T>
class OverlappedReduction {
 public:
  /// `firsts`: where slices begin, from the last one of the vector to the first, which begins at 0; the same for all
  /// ranks. `sums` are those of the team's threads, in the order of their slots. Everything must outlive this.
  OverlappedReduction(RankTree<T>& tree, std::vector<std::int64_t> firsts, std::int64_t elements,
                      std::vector<SlotSums<T>*> sums, const KernelTable<T>& kernels);

  /// One thread's end: it watches the backward of the thread's last chunk.
  class Thread final : public GradientWatch {
   public:
    Thread(OverlappedReduction& reduction, SlotSums<T>& sums, KernelContext& context)
        : reduction_(reduction), sums_(sums), context_(context) {}

    /// A step begins. `recorder` may be null.
    void begin(Recorder* recorder);
    /// Backward writes the last node of the sums from now on (SlotSums::announce).
    void announce(NodeId node);
    /// This thread's sums are complete from element `first` on. Called with 0 at the end of every step.
    void complete_from(std::int64_t first) override;
    /// Seconds of this step in complete_from.
    double seconds() const { return seconds_; }

   private:
    OverlappedReduction& reduction_;
    SlotSums<T>& sums_;
    KernelContext& context_;
    Recorder* recorder_ = nullptr;
    std::size_t next_ = 0;       // the slice that this thread completes next
    bool announced_ = false;     // backward writes the last of the sums
    std::size_t additions_ = 0;  // of vectors that the last node completes
    double seconds_ = 0;
  };

  /// By one thread, when all have completed everything: RankTree::finish, and everything as before the first slice.
  T* finish(KernelContext& context);

 private:
  std::int64_t last(std::size_t slice) const { return slice == 0 ? elements_ : firsts_[slice - 1]; }
  std::int64_t arrive(std::size_t slice, KernelContext& context);

  RankTree<T>& tree_;
  std::vector<std::int64_t> firsts_;
  std::int64_t elements_;
  std::vector<SlotSums<T>*> sums_;
  const KernelTable<T>& kernels_;
  std::vector<std::atomic<int>> arrived_;  // threads, by slice
  std::mutex starting_;
  std::size_t next_ = 0;             // the slice that leaves next
  std::vector<Subtree<T>> nodes_{};  // of all threads
};

/// Where slices begin that end at `boundaries` (ascending, from 0) and have at least `least` elements.
std::vector<std::int64_t> slices_of(const std::vector<std::int64_t>& boundaries, std::int64_t elements,
                                    std::int64_t least);

}  // namespace lockstep
