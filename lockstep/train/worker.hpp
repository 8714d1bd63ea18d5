#pragma once
// One worker: carries chunks of samples through the network, forward and back. A thread or rank has one; it owns all
// the memory that a chunk needs, so the steady state allocates nothing.

#include <cstdint>
#include <span>
#include <vector>

#include "lockstep/data/dataset.hpp"
#include "lockstep/kernels/loss.hpp"
#include "lockstep/nn/sequence.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {

/// What a chunk adds to the scores of its batch: one entry per slot.
struct SlotScores {
  std::vector<double> loss;           // sum over the slot's samples, a chain in double
  std::vector<std::int64_t> correct;  // 0 where the targets are real numbers
};

template <class T>
class Worker {
 public:
  /// `body` is the network without a final softmax or sigmoid that belongs to the loss.
  Worker(const Sequence<T>& body, std::int64_t inputs, std::int64_t outputs, Loss loss, const KernelTable<T>& kernels);

  struct Chunk {
    const Dataset& data;
    std::span<const std::int64_t> ids;
    Slots slots;  // of the ids
    /// Where the inputs of these samples stay from one step to the next: filled in when it is empty. Null: nowhere.
    AlignedBuffer<T>* kept = nullptr;
    const T* parameters;
    T scale = T(1);          // of the loss
    T* gradients = nullptr;  // every element is written; null: no gradient wanted, inference mode
    std::uint64_t seed = 0;
    std::uint32_t epoch = 0;
    Recorder* recorder = nullptr;  // null: nobody asks where the time goes
  };

  /// Forward, loss and (where wanted) backward. Scores of slot k go to entry first_slot + k.
  void run(const Chunk& chunk, SlotScores& scores, std::size_t first_slot, PhaseTimes& times);

  KernelContext& context() { return context_; }

 private:
  void reserve(std::int64_t samples, std::int64_t slots);
  void score(const Chunk& chunk, ConstMatrix<T> z, SlotScores& scores, std::size_t first_slot) const;
  LossTargets<T> load_targets(const Chunk& chunk);

  const Sequence<T>& body_;
  std::int64_t inputs_, outputs_;
  Loss loss_;
  const KernelTable<T>& kernels_;
  KernelContext context_;
  std::int64_t samples_ = 0, slots_ = 0;  // what the memory is for
  SequenceMemory<T> memory_;
  AlignedBuffer<T> input_, gradient_, losses_, targets_;
  std::vector<std::int32_t> labels_;
};

}  // namespace lockstep
