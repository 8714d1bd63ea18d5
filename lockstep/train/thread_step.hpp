#pragma once
// One thread's part of every step: the program that all threads of a team run at the same time (SPMD).
//
// A step has two barriers: behind the gradients of a thread's slots, and behind its stretch of the reduced and updated
// parameter vector. Several ranks add one, behind the broadcast of the new weights, and replicas one more, behind the
// exchange of sums: four with data parallelism. Clipping adds one, and one more with several ranks.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lockstep/distribute/pipeline.hpp"
#include "lockstep/distribute/tensor_group.hpp"
#include "lockstep/distribute/worker.hpp"
#include "lockstep/parallel/batch_sums.hpp"
#include "lockstep/parallel/overlapped_reduction.hpp"
#include "lockstep/train/executor.hpp"
#include "lockstep/train/scores.hpp"
#include "lockstep/train/shard.hpp"
#include "lockstep/train/slot_chunks.hpp"
#include "lockstep/train/state_sums.hpp"
#include "lockstep/train/windows.hpp"

namespace lockstep {

template <class T>
class ThreadStep;

/// What the threads of a rank share. The second group has one writer between two barriers.
template <class T>
struct TeamState {
  explicit TeamState(TrainingSetup& of)
      : setup(of), body(of.stage.plans), kernels(make_table<T>(of.options.backend)), shard(of) {
    if (setup.guard) state_sums.emplace(setup, shard);
    if (!setup.whole_parts.empty()) whole_body.emplace(setup.scored_stage().plans);
  }
  /// The layers of evaluations, which see whole sequences.
  const Sequence<T>& scored_body() const { return whole_body ? *whole_body : body; }

  TrainingSetup& setup;
  Sequence<T> body;
  std::optional<Sequence<T>> whole_body{};  // where training sees windows
  KernelTable<T> kernels;
  Shard<T> shard;
  std::int64_t slots = 0, slots_per_chunk = 1;
  std::int64_t samples_scored_at_once = kScoreBlock;
  std::optional<RankTree<T>> tree;
  std::vector<SlotSums<T>*> sums;                   // of each thread
  std::unique_ptr<OverlappedReduction<T>> overlap;  // null: no other rank holds the same part
  std::optional<StateSums<T>> state_sums;           // with a guard
  std::vector<const ThreadStep<T>*> threads;        // that take steps
  std::optional<BatchSums<T>> batch_sums;           // where layers need sums over the batch

  CarriedState<T> carried{};    // every thread has columns of its own
  SlotScores scores;            // of the present batch, by slot
  T* gradient = nullptr;        // summed over all ranks, in this rank's stretch; by member 0
  std::vector<double> squares;  // of the gradient, by block; for clipping
  double norm = 0;              // of a gradient in parts; by member 0
  std::int64_t last_step = 0;   // done; with a guard, by member 0
};

template <class T>
class ThreadStep {
 public:
  ThreadStep(TeamState<T>& team, int index);

  /// Executor::train_batch and score.
  StepResult train_batch(const Member& member, const Batch& batch);
  Cost score(const Member& member, const Dataset& data, SlotScores& blocks);
  /// The first half of a step: the sums of this thread's slots.
  void run_slots(const Member& member, const Batch& batch);

  /// Before the steps of other data, when the team's state is ready for them.
  void prepare();
  /// The inputs of every chunk stay here from step to step: for `slots` slots; 0: they are gathered each time.
  void keep_inputs(std::int64_t slots);
  /// Gives back the memory of activations and gradients, until the next step.
  void release();

  KernelContext& context() { return worker_.context(); }
  SlotSums<T>& sums() { return sums_; }
  PhaseTimes& times() { return times_; }

 private:
  /// A thread's part of the trainable parameters: elements, and blocks of kSquareBlock.
  struct Stretch {
    std::int64_t first, last, first_block;
    std::int64_t count() const { return last - first; }
  };

  /// Where the chunk that was computed last has its gradients, and on which core that was.
  struct Computed {
    const T* gradients = nullptr;
    int core = 0;
  };
  /// What the second computation of a chunk gives.
  struct Again {
    AlignedBuffer<T> gradients;
    SlotScores scores;
  };

  void run_chunks(const Member& member, const Batch& batch);
  void run_whole(const Member& member, const Batch& batch);
  void run_pipeline(const Member& member, const Batch& batch);
  typename Worker<T>::Chunk task_of(const Member& member, const Batch& batch, const SlotChunk& chunk);
  void push(const Member& member, const Batch& batch, const SlotChunk& chunk);
  StepResult reduce_and_update(const Member& member, const Batch& batch);
  Stretch stretch_of(const Member& member) const;
  T* reduce(const Member& member, const Batch& batch, const Stretch& own, StepRequests& requests);
  T* exchange(const Member& member, const Batch& batch, StepRequests& requests);
  void update(const Member& member, const Batch& batch, const Stretch& own, T* gradient);
  void clip(const Member& member, const Batch& batch, const Stretch& own, T* gradient);
  void broadcast(const Member& member, const Batch& batch);
  // With a guard (thread_recheck.cpp).
  std::int64_t most_chunks(const Member& member) const;
  bool is_guarded(const Member& member, const Batch& batch) const;
  void run_checked(const Member& member, const Batch& batch);
  bool try_chunks(const Member& member, const Batch& batch, int attempt);
  bool has_first_sample(const Batch& batch, const SlotChunk& chunk) const;
  void run_task(const typename Worker<T>::Chunk& task, SlotScores& scores, std::int64_t plant);
  void recheck(const Member& member, const Batch& batch, std::size_t k);
  bool is_same(const SlotChunk& chunk, const T* gradients, const SlotScores& scores, const Again& again,
               ChunkDifference* found) const;
  void guarded_update(const Member& member, const Batch& batch, const Stretch& own, T* gradient);
  void meet(const Member& member, const Batch& batch);

  TeamState<T>& team_;
  std::unique_ptr<TensorGroup> group_;  // ranks with the other parts of split layers; null: layers are whole
  Worker<T> worker_;
  std::unique_ptr<Pipeline<T>> pipeline_;  // null: the network is not cut into stages
  // The same for evaluations, where training sees windows of sequences.
  std::optional<Worker<T>> scorer_;
  std::unique_ptr<Pipeline<T>> scoring_pipeline_;
  SlotSums<T> sums_;
  typename BatchSums<T>::Thread batch_sum_;
  std::optional<typename OverlappedReduction<T>::Thread> overlap_;
  std::vector<SlotChunk> chunks_;       // of the present batch
  std::vector<AlignedBuffer<T>> kept_;  // inputs by the first slot of their chunk
  PhaseTimes times_;
  Computed computed_;
  Again again_;
  std::size_t left_cores_ = 0;  // that this thread has been moved away from
};

}  // namespace lockstep
