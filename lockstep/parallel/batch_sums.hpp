#pragma once
// Sums over a whole batch in the middle of its forward and backward, by the slot tree (docs/design/0040).
//
// Every worker has an aligned, equal part of the slots: the ranks a power of two of them (Ranks::share_in_halves), and
// the threads of a rank too. What a worker has added up is a node of the tree, and the nodes of all workers are one
// level of it. Threads write theirs, meet, and each adds up all of them; between ranks thread 0 exchanges the sums of
// ranks. Messages of n numbers to R ranks: R - 1 per rank, one latency.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lockstep/nn/layer.hpp"
#include "lockstep/parallel/ranks.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep {

/// What the threads of a rank share.
template <class T>
class BatchSums {
 public:
  /// `slots` of every batch are shared by `ranks`, and those of this rank by `threads`. `ranks` must outlive this.
  BatchSums(Ranks& ranks, std::int64_t slots, int threads);

  /// One thread's end.
  class Thread final : public BatchSum<T> {
   public:
    /// A pass over a batch of `samples` begins. By all threads of the team before any calls add_up.
    void begin(BatchSums& shared, const Member& member, std::int64_t samples);

    void add_up(std::span<T> sums) override;
    std::int64_t samples() const override { return samples_; }
    /// Of a thread that has no samples in this batch, instead of its passes: the calls of add_up that the others make.
    void skip(std::int64_t calls);

   private:
    void meet(std::span<const T> sums);

    BatchSums* shared_ = nullptr;
    const Member* member_ = nullptr;
    std::int64_t samples_ = 0;
    std::size_t round_ = 0;
  };

 private:
  /// The sums of a call. The next call has others: a thread may be there before all have read these.
  struct Round {
    std::vector<std::vector<T>> threads;  // empty: zeros
    std::vector<T> total;                 // over ranks, by thread 0
  };

  bool has_samples(int rank, std::int64_t samples) const;
  void exchange(Round& round, std::int64_t samples);

  Ranks& ranks_;
  std::int64_t slots_;
  std::array<Round, 2> rounds_;
  std::vector<std::vector<T>> nodes_;  // of ranks that have slots
};

}  // namespace lockstep
