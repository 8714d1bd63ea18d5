#pragma once
// A worker carries chunks of samples through the network, or through one stage of it, forward and back. A thread has
// one. What a chunk needs from its forward to its backward are ChunkBuffers; the steady state allocates nothing.

#include <cstdint>
#include <span>
#include <vector>

#include "lockstep/data/dataset.hpp"
#include "lockstep/data/sample_weights.hpp"
#include "lockstep/distribute/sample_scores.hpp"
#include "lockstep/distribute/stage.hpp"
#include "lockstep/distribute/step_targets.hpp"
#include "lockstep/distribute/tensor_group.hpp"
#include "lockstep/kernels/loss.hpp"
#include "lockstep/lab/lap.hpp"
#include "lockstep/lab/phase_times.hpp"
#include "lockstep/nn/sequence.hpp"

namespace lockstep {

/// The scores of a batch, one entry per slot; or of an evaluation, one entry per block of samples.
struct SlotScores {
  std::vector<double> loss;           // sum over the slot's samples, a chain in double
  std::vector<std::int64_t> correct;  // 0 where the targets are real numbers
  SampleScores samples{};             // of an evaluation with metrics
};

/// One chunk between its forward and its backward.
template <class T>
struct ChunkBuffers {
  std::int64_t samples = 0, slots = 0;  // what the memory is for
  SequenceMemory<T> memory;
  AlignedBuffer<T> input, gradient;  // room for x and dy
  ConstMatrix<T> x, y;
  Matrix<T> dy;
  std::vector<std::int64_t> lengths;  // of the sequences; empty: all have all steps
};

template <class T>
class Worker {
 public:
  /// `body` are the layers of `stage`. `group` has the other parts of split layers; null: layers are whole. Everything
  /// must outlive the worker.
  Worker(const Sequence<T>& body, const Stage& stage, const LossOptions& loss, const KernelTable<T>& kernels,
         TensorGroup* group);

  struct Chunk {
    const Dataset& data;
    std::span<const std::int64_t> ids;
    const SampleWeights* weights = nullptr;  // null: every sample counts 1
    Slots slots;                             // of the ids
    std::size_t first_slot = 0;              // the entry of the first slot's scores
    /// Where the inputs of these samples stay from one step to the next: filled in when it is empty. Null: nowhere.
    AlignedBuffer<T>* kept = nullptr;
    const T* parameters;
    const T* weight_columns = nullptr;  // the second copy of split weights
    T scale = T(1);                     // of the loss
    T* gradients = nullptr;             // every element is written; null: inference
    std::int64_t samples_at_once = 0;   // in inference, through the whole network; 0: all
    std::uint64_t seed = 0;
    std::uint32_t epoch = 0;
    Recorder* recorder = nullptr;    // null: not profiling
    GradientWatch* watch = nullptr;  // null: no overlap with the reduction
    ConstMatrix<T> state_before{};   // of recurrent layers (Pass)
    Matrix<T> state_after{};
    BatchSum<T>* batch = nullptr;  // null: no layer needs sums over the batch, or the chunk is the batch
  };

  /// Through the whole network: forward, loss and, in training, backward.
  void run(const Chunk& chunk, SlotScores& scores, PhaseTimes& times);
  /// Gives back the memory of `run`, until it runs again.
  void release() { buffers_ = {}; }

  // The same in parts, in this order, for stages: `buffers` are the chunk's own until backward has returned.
  void reserve(const Chunk& chunk, ChunkBuffers<T>& buffers) const;
  /// Sets x: the samples themselves.
  void load(const Chunk& chunk, ChunkBuffers<T>& buffers, PhaseTimes& times);
  /// From x to y.
  void forward(const Chunk& chunk, ChunkBuffers<T>& buffers, PhaseTimes& times);
  /// Of the last stage's y. Returns the gradient by y; empty in inference.
  Matrix<T> score(const Chunk& chunk, ChunkBuffers<T>& buffers, SlotScores& scores, PhaseTimes& times);
  /// dy may be destroyed; an empty dx is not computed. Where layers are split, this rank has the part of dy that
  /// `dy_split` says.
  void backward(const Chunk& chunk, ChunkBuffers<T>& buffers, Matrix<T> dy, Matrix<T> dx, const Split& dy_split,
                PhaseTimes& times);
  /// Completes a matrix of which every member of the tensor group has a part.
  void gather(const Chunk& chunk, Matrix<T> matrix, const Split& split, PhaseTimes& times);

  KernelContext& context() { return context_; }

 private:
  Pass<T> pass_of(const Chunk& chunk, const ChunkBuffers<T>* buffers = nullptr);
  void settle(double& phase, PhaseTimes& times) const {
    if (group_ != nullptr) group_->settle(phase, times);
  }
  LossTargets<T> load_targets(const Chunk& chunk);
  /// Null: every sample counts 1.
  const T* load_weights(const Chunk& chunk);
  void infer(const Chunk& chunk, PhaseTimes& times);
  Matrix<T> score_steps(const Chunk& chunk, ChunkBuffers<T>& buffers, SlotScores& scores);
  void end_scores(const Chunk& chunk, Lap& lap, PhaseTimes& times);
  Matrix<T> score_outputs(const Chunk& chunk, ChunkBuffers<T>& buffers, SlotScores& scores, PhaseTimes& times);

  const Sequence<T>& body_;
  const Stage& stage_;
  LossOptions loss_;
  const KernelTable<T>& kernels_;
  TensorGroup* group_;
  KernelContext context_;
  ChunkBuffers<T> buffers_;  // of run()
  AlignedBuffer<T> losses_, targets_, outputs_;
  std::vector<std::int32_t> labels_;  // with a class per step: of all steps
  StepTargets<T> step_targets_;
  std::vector<std::int64_t> lengths_;
  AlignedBuffer<T> weights_;
};

}  // namespace lockstep
