#pragma once
// The training loop behind Trainer, as one program that every thread of a team runs on its share (SPMD), in every rank.
// A step has two barriers: after the gradients of a worker's slots, and after its stretch of the reduced and updated
// parameter vector. With several ranks the leader of each team exchanges sums and weights with the others in between.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lockstep/parallel/rank_tree.hpp"
#include "lockstep/parallel/sliced_reduction.hpp"
#include "lockstep/parallel/team.hpp"
#include "lockstep/train/pipeline.hpp"
#include "lockstep/train/progress.hpp"
#include "lockstep/train/rank_grid.hpp"
#include "lockstep/train/stage.hpp"
#include "lockstep/train/trainer.hpp"
#include "lockstep/train/update.hpp"
#include "lockstep/train/weight_columns.hpp"
#include "lockstep/train/worker.hpp"

namespace lockstep {

/// The layers that run in training: without a final softmax or sigmoid that the loss contains. Throws Error(usage) when
/// network and loss do not fit.
std::vector<LayerPlan> body_of(const Network& network, Loss loss);

/// Throws Error(usage) when the data does not fit the network and the loss.
void check_data(const Network& network, Loss loss, const Dataset& data);

/// What the size of a chunk follows from: numbers per sample (Sequence::activation_elements), parameters, bytes of a
/// number.
struct ChunkNeeds {
  std::int64_t activations, parameters;
  std::size_t scalar;
};

/// How many of a batch's slots go through the network together: a power of two, as many as keep the activations in
/// cache or below the size of the parameters, at least one. Any choice gives the same bits.
std::int64_t slots_per_chunk(std::int64_t batch, std::int64_t slots, const ChunkNeeds& needs);

/// Samples per block of an evaluation: part of the order of its loss.
inline constexpr std::int64_t kScoreBlock = 64;

/// The scores of a data set from those of its blocks, of which every rank has a share; afterwards all have them all.
Scores total_scores(RankGrid& grid, SlotScores& blocks, const Dataset& data);

/// The trainer behind its precision.
class TrainingEngine {
 public:
  virtual ~TrainingEngine() = default;
  virtual std::vector<EpochReport> fit(const Dataset& data, const FitOptions& fit_options) = 0;
  virtual double step(const Dataset& data, std::span<const std::int64_t> ids) = 0;
  virtual std::vector<double> gradient(const Dataset& data, std::span<const std::int64_t> ids) = 0;
  virtual void check(const Dataset& data) const = 0;
  virtual Scores evaluate(const Dataset& data) = 0;
  virtual double penalty() = 0;
  virtual const TrainOptions& options() const = 0;
  virtual TrainingState state() const = 0;
  virtual void restore(const TrainingState& state) = 0;
};

template <class T>
class Engine final : public TrainingEngine {
 public:
  Engine(Network& network, const TrainOptions& options, Ranks& ranks);

  std::vector<EpochReport> fit(const Dataset& data, const FitOptions& fit_options) override;
  double step(const Dataset& data, std::span<const std::int64_t> ids) override;
  std::vector<double> gradient(const Dataset& data, std::span<const std::int64_t> ids) override;
  void check(const Dataset& data) const override { check_data(network_, options_.loss, data); }
  Scores evaluate(const Dataset& data) override;
  double penalty() override;
  const TrainOptions& options() const override { return options_; }
  TrainingState state() const override;
  void restore(const TrainingState& state) override;

 private:
  /// What one member of the team owns.
  struct Seat {
    Seat(const Sequence<T>& body, const Stage& stage, Loss loss, const KernelTable<T>& kernels,
         std::unique_ptr<RankHolders> others)
        : holders(std::move(others)),
          worker(body, stage.inputs, stage.outputs, loss, kernels, holders.get()),
          sums(stage.count) {}
    std::unique_ptr<RankHolders>
        holders;  // of the other parts of split layers, on a channel of this member; null: none
    Worker<T> worker;
    std::unique_ptr<Ranks> neighbours;      // the ranks of this pipeline, on a channel of this member
    std::unique_ptr<Pipeline<T>> pipeline;  // null: the network is not cut into stages
    SlotSums<T> sums;
    bool announced = false;      // the last of its sums are being written
    std::size_t next_slice = 0;  // of the reduction
    double slice_seconds = 0;    // that it took from backward
    PhaseTimes times;
    std::vector<AlignedBuffer<T>> kept;  // the inputs of its chunks, by chunk; empty where they are gathered each time
  };

  /// Hears from backward how far a member's last sums are written.
  struct SliceWatch final : GradientWatch {
    SliceWatch(Engine& e, const Member& m) : engine(e), member(m) {}
    void complete_from(std::int64_t first) override { engine.arrive(member, first); }
    Engine& engine;
    const Member& member;
  };

  /// One batch as all members see it.
  struct Batch {
    const Dataset& data;
    std::span<const std::int64_t> ids;
    std::int64_t step = 0;  // from 0, since the beginning of training
    double rate = 0;
  };

  /// A member's part of the trainable parameters: elements and blocks of kSquareBlock.
  struct Stretch {
    std::int64_t first, last, first_block;
  };

  // The program of a member.
  void run_epoch(const Member& member, const Dataset& data, const FitOptions& fit_options, std::int64_t total_epochs);
  void train_batch(const Member& member, const Batch& batch);
  void run_slots(const Member& member, const Batch& batch);
  void run_chunks(const Member& member, const Batch& batch, std::span<const std::int64_t> bounds, std::int64_t first,
                  std::int64_t last);
  void run_pipeline(const Member& member, const Batch& batch, std::span<const std::int64_t> bounds, std::int64_t first,
                    std::int64_t last);
  typename Worker<T>::Chunk chunk_of(const Member& member, const Batch& batch, std::int64_t first,
                                     std::span<const std::int64_t> columns);
  void push(const Member& member, std::int64_t slot, std::int64_t run);
  void push_nothing(const Member& member, std::int64_t slot, std::int64_t run);
  void arrive(const Member& member, std::int64_t first);
  void reduce_and_update(const Member& member, const Batch& batch);
  T* reduce(const Member& member, const Batch& batch, const Stretch& own);
  void meet(const Member& member);
  std::int64_t score_blocks(const Member& member, const Dataset& data);

  // By one member, or outside a team.
  void prepare(const Dataset& data);
  void keep_inputs(const Dataset& data);
  void prepare_scores(const Dataset& data);
  void end_epoch(const FitOptions& fit_options, double seconds, double validation_seconds);
  std::int64_t node_count() const;
  std::vector<Subtree<T>> subtrees();
  Stretch stretch_of(const Member& member) const;
  /// This rank holds a part of the network, in values_.
  bool parted() const { return grid_.parted(); }
  bool staged() const { return grid_.staged(); }
  StepRequests own_requests(std::int64_t steps) const;
  void gather_state();
  void collect_weights();
  bool finite_weights();
  bool finite_weights_if_saved() { return !(requests_.stop || requests_.save) || finite_weights(); }
  void find_norm(T* gradient);
  void exchange_columns();
  T* weights() { return parted() ? values_.data() : network_.data<T>(); }
  Seat& seat(const Member& member) { return *seats_[static_cast<std::size_t>(member.index)]; }
  /// Ends a span of this member, where a profile is taken.
  void close(const Member& member, std::int32_t section, Cost cost = {}) {
    if (profile_ != nullptr) profile_->recorder(member.index).close(section, cost.flops, cost.bytes);
  }

  Network& network_;
  TrainOptions options_;
  Ranks& ranks_;              // all of them
  std::vector<Stage> parts_;  // of the network, by rank
  RankGrid grid_;
  const Stage& stage_;                       // this rank's part
  AlignedBuffer<T> values_;                  // its parameters; where it is the whole network they lie there
  std::optional<WeightColumns<T>> columns_;  // of split layers
  double norm_ = 0;                          // of the gradient over all parts; by member 0
  AlignedBuffer<T> whole_gradient_;
  AlignedBuffer<T> whole_first_, whole_second_;  // rank 0: the optimiser's state of all parts, where it was gathered
  Sequence<T> body_;
  KernelTable<T> kernels_;
  Update<T> update_;
  std::vector<std::unique_ptr<Seat>> seats_;
  std::int64_t slots_ = 0, slots_per_chunk_ = 1;  // in a pipeline a chunk is one slot
  bool keeps_inputs_ = false;
  Progress progress_;                // by member 0
  Profile* profile_ = nullptr;       // of the present fit
  const FitOptions* fit_ = nullptr;  // the same
  std::optional<RankTree<T>> tree_;
  std::unique_ptr<SlicedReduction<T>> slices_;  // null: no other rank holds the same
  std::int64_t tree_bytes_ = 0;                 // that the tree had sent by the end of the last epoch

  // Shared by the team: each entry has one writer between two barriers.
  SlotScores scores_;            // of the present batch, by slot
  StepRequests requests_;        // of all ranks for the present step, by member 0
  BatchScores batch_scores_;     // their sums, by member 0 between the barriers of a step
  T* gradient_ = nullptr;        // summed over all ranks, in this rank's stretch; by member 0
  std::vector<double> squares_;  // of the gradient, by block; for clipping
  SlotScores blocks_;            // of an evaluation, by block of samples
};

}  // namespace lockstep
