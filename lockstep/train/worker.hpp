#pragma once
// One worker: carries chunks of samples through the network, or through one stage of it, forward and back. A thread has
// one. What a chunk needs from its forward to its backward is a Flight; the steady state allocates nothing.

#include <cstdint>
#include <span>
#include <vector>

#include "lockstep/data/dataset.hpp"
#include "lockstep/kernels/loss.hpp"
#include "lockstep/nn/sequence.hpp"
#include "lockstep/train/rank_holders.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {

/// What a chunk adds to the scores of its batch: one entry per slot.
struct SlotScores {
  std::vector<double> loss;           // sum over the slot's samples, a chain in double
  std::vector<std::int64_t> correct;  // 0 where the targets are real numbers
};

/// One chunk between its forward and its backward.
template <class T>
struct Flight {
  std::int64_t samples = 0, slots = 0;  // what the memory is for
  SequenceMemory<T> memory;
  AlignedBuffer<T> input, gradient;  // room for x and dy
  ConstMatrix<T> x, y;
  Matrix<T> dy;
};

template <class T>
class Worker {
 public:
  /// `body` is the network without a final softmax or sigmoid that belongs to the loss, or a stage of it.
  /// `holders` have the other parts of split layers; null: they are whole.
  Worker(const Sequence<T>& body, std::int64_t inputs, std::int64_t outputs, Loss loss, const KernelTable<T>& kernels,
         RankHolders* holders = nullptr);

  struct Chunk {
    const Dataset& data;
    std::span<const std::int64_t> ids;
    Slots slots;  // of the ids
    /// Where the inputs of these samples stay from one step to the next: filled in when it is empty. Null: nowhere.
    AlignedBuffer<T>* kept = nullptr;
    const T* parameters;
    const T* columns = nullptr;  // of split weights
    T scale = T(1);              // of the loss
    T* gradients = nullptr;      // every element is written; null: no gradient wanted, inference mode
    std::uint64_t seed = 0;
    std::uint32_t epoch = 0;
    Recorder* recorder = nullptr;    // null: nobody asks where the time goes
    GradientWatch* watch = nullptr;  // null: nobody asks how far backward has come
  };

  /// Through the whole network: forward, loss and (where wanted) backward. Scores of slot k go to entry first_slot + k.
  void run(const Chunk& chunk, SlotScores& scores, std::size_t first_slot, PhaseTimes& times);

  // The same in parts, in this order, for stages: `flight` is the chunk's own until backward has returned.
  void reserve(const Chunk& chunk, Flight<T>& flight) const;
  /// Sets x: the samples themselves.
  void load(const Chunk& chunk, Flight<T>& flight, PhaseTimes& times);
  /// From x to y.
  void forward(const Chunk& chunk, Flight<T>& flight, PhaseTimes& times);
  /// Of the last stage's y; the gradient by y, where wanted, is returned.
  Matrix<T> score(const Chunk& chunk, Flight<T>& flight, SlotScores& scores, std::size_t first_slot, PhaseTimes& times);
  /// dy may be destroyed; an empty dx is not computed. Of split layers dy is there as `dy_split` says.
  void backward(const Chunk& chunk, Flight<T>& flight, Matrix<T> dy, Matrix<T> dx, const Split& dy_split,
                PhaseTimes& times);
  /// Completes a matrix of which every member has a part.
  void gather(const Chunk& chunk, Matrix<T> matrix, const Split& split, PhaseTimes& times);

  std::int64_t inputs() const { return inputs_; }
  std::int64_t outputs() const { return outputs_; }
  KernelContext& context() { return context_; }

 private:
  Pass<T> pass_of(const Chunk& chunk);
  void settle(double& phase, PhaseTimes& times) const {
    if (holders_ != nullptr) holders_->settle(phase, times);
  }
  LossTargets<T> load_targets(const Chunk& chunk);

  const Sequence<T>& body_;
  std::int64_t inputs_, outputs_;
  Loss loss_;
  const KernelTable<T>& kernels_;
  RankHolders* holders_;
  KernelContext context_;
  Flight<T> flight_;  // of run()
  AlignedBuffer<T> losses_, targets_;
  std::vector<std::int32_t> labels_;
};

}  // namespace lockstep
